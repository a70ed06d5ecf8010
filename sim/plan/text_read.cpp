// Reads a plan's text. This file reads the lines before the sections, and checks the order of the sections.
// action_reader.cpp reads the lines of actions.
#include <algorithm>
#include <array>

#include "base/large_pages.hpp"
#include "base/quantity.hpp"
#include "document/builder.hpp"
#include "plan/action_reader.hpp"
#include "plan/fact_text.hpp"
#include "plan/text.hpp"

namespace sluice {

namespace {

constexpr std::array<std::string_view, 4> pool_keys_1 = {"capacity", "limit", "shared",
                                                         "not_enforced"},
                                          pool_keys_2 = {"capacity", "limit", "owner",
                                                         "not_enforced"};
constexpr std::array<std::string_view, 3> link_keys = {"bandwidth", "idle", "busy"};
constexpr std::array<std::string_view, 3> route_keys = {"links", "setup", "latency"};
constexpr std::array<std::string_view, 4> stream_keys = {"kind", "device", "idle", "busy"};
constexpr std::array<std::string_view, 3> tensor_keys = {"class", "bytes", "home"};
constexpr std::array<std::string_view, 4> collective_keys = {"kind", "devices", "algorithm",
                                                             "bytes"};
constexpr KeyList of_pool_1{pool_keys_1, 2}, of_pool_2{pool_keys_2, 3}, of_link{link_keys},
    of_route{route_keys}, of_stream{stream_keys}, of_tensor{tensor_keys},
    of_collective{collective_keys};

class PlanReader {
 public:
  explicit PlanReader(std::shared_ptr<const Source> source)
      : source_(std::move(source)), text_(source_->text) {
    require_text(*source_);
  }

  Plan read() {
    std::vector<Word> words;
    for (PlanLine line{&source_->name, 0, {}}; next(line);) {
      if (section_ >= 0 &&
          actions_.read_usual(line, static_cast<Section>(section_), [&] { begin_action(line); }))
        continue;
      line.words(words);
      if (words.empty()) continue;
      if (tables_.version == 0)
        read_format(line, words);
      else if (words.size() == 1 && section_head(line, words[0]))
        continue;
      else if (section_ >= 0)
        read_action(line, words);
      else
        read_table(line, words);
    }
    if (tables_.version == 0)
      throw InputError(Position{source_->name, 1, 1, ""},
                       "the plan is empty; begin it with 'format: sluice-plan/2'");
    finish();
    plan_.source = source_;
    return std::move(plan_);
  }

 private:
  bool next(PlanLine& line) {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line.text = text_.substr(at_, end - at_);
    ++line.number;
    at_ = end + 1;
    return true;
  }

  void read_format(const PlanLine& line, const std::vector<Word>& words) {
    if (words.size() == 2 && words[0].text == "format:")
      tables_.version = words[1].text == "sluice-plan/1"   ? 1
                        : words[1].text == "sluice-plan/2" ? 2
                                                           : 0;
    if (tables_.version == 0)
      line.fail(words[0].column, "expected 'format: sluice-plan/2' or 'format: sluice-plan/1'");
  }

  bool section_head(const PlanLine& line, const Word& word) {
    if (word.text.back() != ':') return false;
    for (int s = 0; s < 3; ++s) {
      if (word.text.substr(0, word.text.size() - 1) != name_of(static_cast<Section>(s))) continue;
      if (s <= section_)
        line.fail(word.column, "'" + std::string(word.text) +
                                   "' is not allowed here: each section comes once, in the order "
                                   "prologue, body, epilogue");
      section_ = s;
      begin_from(s);
      return true;
    }
    return false;
  }

  /// Lets a section begin at the next action that is read. The later sections begin there, too, until the reader
  /// comes to the lines that begin these sections.
  void begin_from(int section) {
    const auto size = static_cast<std::uint32_t>(plan_.actions.size());
    for (int s = section; s <= 2; ++s) begin_[static_cast<std::size_t>(s)] = size;
  }

  void read_table(const PlanLine& line, const std::vector<Word>& words) {
    const std::string_view what = words[0].text;
    static const std::vector<std::string> known = {"name",
                                                   "iterations",
                                                   "steps_per_iteration",
                                                   "iterations_per_step",
                                                   "fact",
                                                   "pool",
                                                   "link",
                                                   "route",
                                                   "stream",
                                                   "stage",
                                                   "tensor",
                                                   "collective",
                                                   "prologue:",
                                                   "body:",
                                                   "epilogue:"};
    if (std::find(known.begin(), known.end(), what) == known.end())
      line.fail(words[0].column, "unknown line '" + std::string(what) + "'" +
                                     did_you_mean(what, known) + "; allowed: " + join(known));
    if (words.size() < 2)
      line.fail(words[0].column, "'" + std::string(what) +
                                     "' needs a name or a number as the next "
                                     "word");
    if (what == "pool") return read_pool(line, words);
    if (what == "link") return read_link(line, words);
    if (what == "route") return read_route(line, words);
    if (what == "stream") return read_stream(line, words);
    if (what == "tensor") return read_tensor(line, words);
    if (what == "collective") return read_collective(line, words);
    if (what == "fact") return plan_.facts.push_back(read_fact(line, words));
    read_words(line, words);
  }

  void read_words(const PlanLine& line, const std::vector<Word>& words) {
    const std::string_view what = words[0].text;
    if (words.size() != 2)
      line.fail(words.back().column, "'" + std::string(what) + "' takes one word, got " +
                                         std::to_string(words.size() - 1) +
                                         "; put a name with blanks in double quotes");
    if (what == "name") plan_.name = line.name(words[1]);
    if (what == "stage") plan_.stages.push_back(line.name(words[1]));
    if (what == "iterations") plan_.iterations = whole_number(line, what, words[1], 0);
    if (what == "steps_per_iteration")
      plan_.steps_per_iteration = whole_number(line, what, words[1], 1);
    if (what == "iterations_per_step")
      plan_.iterations_per_step = whole_number(line, what, words[1], 1);
  }

  void read_pool(const PlanLine& line, const std::vector<Word>& words) {
    Pool pool;
    pool.name = tables_.declare(line, tables_.pools, words[1], "pool");
    const bool first_version = tables_.version == 1;
    const LineKeys keys(line, words, 2, first_version ? of_pool_1 : of_pool_2);
    if (first_version && !keys.find("shared")) pool.owner = pool.name;
    if (const Word* owner = first_version ? nullptr : keys.find("owner"))
      pool.owner = line.name(*owner);
    pool.enforced = keys.find("not_enforced") == nullptr;
    const Word& capacity = keys.get("capacity");
    if (capacity.text != "unlimited")
      pool.capacity = keys.read(capacity, [&] { return parse_bytes(capacity.text, "capacity"); });
    if (const Word* limit = keys.find("limit"))
      pool.limit = keys.read(*limit, [&] { return parse_bytes(limit->text, "limit"); });
    plan_.pools.push_back(std::move(pool));
  }

  void read_link(const PlanLine& line, const std::vector<Word>& words) {
    const std::string name = tables_.declare(line, tables_.links, words[1], "link");
    const LineKeys keys(line, words, 2, of_link);
    const Word& bandwidth = keys.get("bandwidth");
    Link link{name, keys.quantity("bandwidth", Dimension::bytes_per_s, 0),
              keys.quantity("idle", Dimension::watts, 0),
              keys.quantity("busy", Dimension::watts, 0)};
    if (!(link.bandwidth > 0))
      line.fail(bandwidth.column,
                "'" + std::string(bandwidth.text) + "' for 'bandwidth': it must be more than 0B/s");
    plan_.links.push_back(std::move(link));
  }

  void read_route(const PlanLine& line, const std::vector<Word>& words) {
    const std::string name = tables_.declare(line, tables_.routes, words[1], "route");
    const LineKeys keys(line, words, 2, of_route);
    Route route{name,
                {},
                keys.quantity("setup", Dimension::seconds, 0),
                keys.quantity("latency", Dimension::seconds, 0)};
    PlanLine::split(keys.get("links"), ',', [&](const Word& link) {
      route.links.push_back(look_up(line, tables_.links, link, "link"));
    });
    plan_.routes.push_back(std::move(route));
  }

  void read_stream(const PlanLine& line, const std::vector<Word>& words) {
    const std::string name = tables_.declare(line, tables_.streams, words[1], "stream");
    const LineKeys keys(line, words, 2, of_stream);
    const Word& kind = keys.get("kind");
    if (kind.text != "compute" && kind.text != "copy")
      line.fail(kind.column,
                "unknown stream kind '" + std::string(kind.text) + "'; known: compute, copy");
    const Word* device = keys.find("device");
    plan_.streams.push_back({name, kind.text == "compute" ? StreamKind::compute : StreamKind::copy,
                             device ? line.name(*device) : "",
                             keys.quantity("idle", Dimension::watts, 0),
                             keys.quantity("busy", Dimension::watts, 0)});
  }

  void read_tensor(const PlanLine& line, const std::vector<Word>& words) {
    const std::string name = tables_.declare(line, tables_.tensors, words[1], "tensor");
    const LineKeys keys(line, words, 2, of_tensor);
    keys.get("bytes");
    const Word* home = keys.find("home");
    plan_.tensors.push_back(
        {name, enum_of<TensorClass>(line, keys.get("class"), tensor_class_count, "tensor class"),
         keys.count("bytes", 0), home ? look_up(line, tables_.pools, *home, "pool") : none});
  }

  void read_collective(const PlanLine& line, const std::vector<Word>& words) {
    if (tables_.version == 1)
      line.fail(words[0].column, "'collective' is allowed only in 'format: sluice-plan/2'");
    Collective collective;
    collective.name = tables_.declare(line, tables_.collectives, words[1], "collective");
    const LineKeys keys(line, words, 2, of_collective);
    collective.kind = kind_of(line, keys.get("kind"));
    PlanLine::split(keys.get("devices"), ',',
                    [&](const Word& device) { collective.devices.push_back(line.name(device)); });
    if (const Word* algorithm = keys.find("algorithm"))
      collective.algorithm = line.name(*algorithm);
    collective.bytes = keys.count("bytes", 0);
    plan_.collectives.push_back(std::move(collective));
  }

  void read_action(const PlanLine& line, const std::vector<Word>& words) {
    begin_action(line);
    actions_.read(line, words, static_cast<Section>(section_));
  }

  void begin_action(const PlanLine& line) {
    if (plan_.actions.empty()) expect_actions(text_.substr(line.text.data() - text_.data()));
    plan_.line_begins.push_back(static_cast<std::size_t>(line.text.data() - text_.data()));
  }

  /// Reserves room for as many actions as the text has lines. Otherwise, the list of actions would grow again and
  /// again. It would move all actions each time, and this would take as long as reading them.
  void expect_actions(std::string_view text) {
    std::size_t lines = 1;
    for (std::size_t at = text.find('\n'); at != std::string_view::npos;
         at = text.find('\n', at + 1))
      ++lines;
    const std::size_t count = std::min(lines, 1 + text.size() / shortest_line.size());
    plan_.actions.reserve(count);
    prefer_large_pages(plan_.actions.data(), count * sizeof(Action));
    plan_.line_begins.reserve(count);
  }

  void finish() {
    begin_from(section_ + 1);
    plan_.body_begin = begin_[1];
    plan_.body_end = begin_[2];
    actions_.resolve_waits(text_, source_->name);
  }

  static constexpr std::string_view shortest_line = "F on=c seconds=1\n";

  std::shared_ptr<const Source> source_;
  std::string_view text_;
  std::size_t at_ = 0;
  int section_ = -1;
  std::array<std::uint32_t, 3> begin_ = {0, 0, 0};
  Plan plan_;
  NameTables tables_;
  ActionReader actions_{plan_, tables_};
};

}  // namespace

bool looks_like_plan(std::string_view text) {
  return text.substr(0, 19) == "format: sluice-plan";
}

Plan plan_from_text(std::string_view text, const std::string& name) {
  return plan_from_source(std::make_shared<const Source>(Source{name, std::string(text)}));
}

Plan plan_from_source(std::shared_ptr<const Source> source) {
  return PlanReader(std::move(source)).read();
}

}  // namespace sluice
