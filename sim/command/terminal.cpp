#include "command/terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "base/figures.hpp"

namespace sluice {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::strcmp(term, "dumb") == 0;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Returns false if the output is a pipe without a reader.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0)
      throw IoError("cannot write to standard output: " + std::string(std::strerror(errno)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Makes a write to a closed pipe fail with EPIPE, instead of ending the program by a signal.
void ignore_broken_pipes() {
  static const bool once = [] {
    std::signal(SIGPIPE, SIG_IGN);
    return true;
  }();
  (void)once;
}

}  // namespace

void print(std::string_view text) {
  ignore_broken_pipes();
  static bool reader_gone = false;
  if (!reader_gone) reader_gone = !write_all(STDOUT_FILENO, text);
}

void message(std::string_view text) {
  ignore_broken_pipes();
  try {
    write_all(STDERR_FILENO, std::string(text) + "\n");
  } catch (const IoError&) {
    // A message about this failure cannot be printed. The exit code shows the failure.
  }
}

bool colour_wanted() {
  static const bool wanted = isatty(STDOUT_FILENO) != 0 && !is_set("NO_COLOR") && !dumb_terminal();
  return wanted;
}

bool utf8_wanted() {
  static const bool wanted = [] {
    std::setlocale(LC_CTYPE, "");
    return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  }();
  return wanted;
}

int terminal_width(int otherwise) {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return otherwise;
  return size.ws_col > 0 ? size.ws_col : otherwise;
}

std::string bold(std::string_view text) {
  return colour_wanted() ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

std::string coloured(std::string_view text, int colour) {
  if (!colour_wanted()) return std::string(text);
  return "\x1b[" + std::to_string(colour) + "m" + std::string(text) + "\x1b[0m";
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto byte = static_cast<unsigned char>(result[i]);
    const bool c1 = byte == 0xC2 && i + 1 < result.size() &&
                    static_cast<unsigned char>(result[i + 1]) < 0xA0;  // U+0080..U+009F
    if (byte < 0x20 || byte == 0x7F || c1) result[i] = '?';
    if (c1) result[i + 1] = '?';
  }
  return result;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text) columns += is_continuation(c) ? 0 : 1;
  return columns;
}

static std::string blanks_beside(std::string_view text, std::size_t columns) {
  const std::size_t taken = columns_of(text);
  return std::string(columns > taken ? columns - taken : 0, ' ');
}

std::string padded(std::string_view text, std::size_t columns) {
  return std::string(text) + blanks_beside(text, columns);
}

std::string padded_left(std::string_view text, std::size_t columns) {
  return blanks_beside(text, columns) + std::string(text);
}

std::string bar(double share, std::size_t width) {
  constexpr std::array<const char*, 8> eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clipped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  std::string text;
  if (!utf8_wanted()) {
    const auto full = static_cast<std::size_t>(std::lround(clipped * static_cast<double>(width)));
    return std::string(full, '#') + std::string(width - full, '.');
  }
  const auto parts =
      static_cast<std::size_t>(std::lround(clipped * 8 * static_cast<double>(width)));
  for (std::size_t i = 0; i < parts / 8; ++i) text += "█";
  text += eighths[parts % 8];
  return padded(text, width);
}

std::string progress_words(std::int64_t done, std::int64_t total, double passed_s,
                           const std::string& counted) {
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const double left = share > 0 ? passed_s * (1 - share) / share : 0;
  std::array<char, 16> percentage{};
  std::snprintf(percentage.data(), percentage.size(), " %5.1f %%  ", 100 * share);
  std::string words = percentage.data();
  if (!counted.empty() && passed_s > 0)
    words += figure(static_cast<double>(done) / passed_s, counted + "/s") + "  ";
  return words + clock(left) + " left";
}

ProgressLine::ProgressLine(std::string counted)
    : counted_(std::move(counted)),
      active_(isatty(STDERR_FILENO) != 0 && !dumb_terminal()),
      began_(now()),
      last_(began_) {}

void ProgressLine::show(std::int64_t done, std::int64_t total) {
  const double time = now();
  if (!active_ || total <= 0 || time - last_ < 0.1) return;
  last_ = time;
  shown_ = true;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const std::string line =
      "\r\x1b[K" + bar(share, 30) + progress_words(done, total, time - began_, counted_);
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

std::function<void(std::size_t done, std::size_t total)> ProgressLine::counter() {
  return [this](std::size_t done, std::size_t total) {
    show(static_cast<std::int64_t>(done), static_cast<std::int64_t>(total));
  };
}

void ProgressLine::clear() {
  if (shown_) (void)!::write(STDERR_FILENO, "\r\x1b[K", 4);
  shown_ = false;
}

}  // namespace sluice
