// Reading a plan's text.
#include <array>
#include <charconv>

#include "base/quantity.hpp"
#include "document/builder.hpp"
#include "plan/line_keys.hpp"
#include "plan/text.hpp"

namespace sluice {

namespace {

class PlanReader {
 public:
  PlanReader(std::string_view text, const std::string& file)
      : source_(std::make_shared<const Source>(Source{file, std::string(text)})),
        text_(source_->text) {
    require_text(*source_);
  }

  Plan read() {
    for (PlanLine line{&source_->name, 0, {}}; next(line);) {
      const std::vector<Word> words = line.words();
      if (words.empty()) continue;
      if (!formatted_)
        read_format(line, words);
      else if (words.size() == 1 && section_head(line, words[0]))
        continue;
      else if (section_ >= 0)
        read_action(line, words);
      else
        read_table(line, words);
    }
    if (!formatted_)
      throw InputError(Position{source_->name, 1, 1, ""},
                       "an empty plan; it begins with 'format: sluice-plan/1'");
    finish();
    plan_.source = source_;
    return std::move(plan_);
  }

 private:
  struct Pending {  ///< waits are resolved when all actions are known
    std::uint32_t action;
    PlanLine line;
    Word word;
  };

  bool next(PlanLine& line) {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line.text = text_.substr(at_, end - at_);
    ++line.number;
    at_ = end + 1;
    return true;
  }

  void read_format(const PlanLine& line, const std::vector<Word>& words) {
    if (words.size() != 2 || words[0].text != "format:" || words[1].text != "sluice-plan/1")
      line.fail(words[0].column,
                "expected 'format: sluice-plan/1' (the only version that this program reads)");
    formatted_ = true;
  }

  bool section_head(const PlanLine& line, const Word& word) {
    for (int s = 0; s < 3; ++s) {
      if (word.text != std::string(name_of(static_cast<Section>(s))) + ":") continue;
      if (s <= section_)
        line.fail(word.column, "'" + std::string(word.text) +
                                   "' cannot stand here: each section comes once, in the order "
                                   "prologue, body, epilogue");
      section_ = s;
      begin_from(s);
      return true;
    }
    return false;
  }

  /// This section and all after it begin here, as far as is known yet.
  void begin_from(int section) {
    for (int s = section; s <= 2; ++s) begin_[static_cast<std::size_t>(s)] = size();
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(plan_.actions.size()); }

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
                                                   "prologue:",
                                                   "body:",
                                                   "epilogue:"};
    if (std::find(known.begin(), known.end(), what) == known.end())
      line.fail(words[0].column, "unknown line '" + std::string(what) + "'" +
                                     did_you_mean(what, known) + "; allowed: " + join(known));
    if (words.size() < 2)
      line.fail(words[0].column, "'" + std::string(what) + "' needs a name or number after it");
    if (what == "pool") return read_pool(line, words);
    if (what == "link") return read_link(line, words);
    if (what == "route") return read_route(line, words);
    if (what == "stream") return read_stream(line, words);
    if (what == "tensor") return read_tensor(line, words);
    const std::size_t expected = what == "fact" ? 3 : 2;
    if (words.size() != expected)
      line.fail(words.back().column, "'" + std::string(what) + "' takes " +
                                         (expected == 2 ? "one word" : "two words") + ", got " +
                                         std::to_string(words.size() - 1) +
                                         "; a name with blanks stands in double quotes");
    if (what == "name") plan_.name = line.name(words[1]);
    if (what == "stage") plan_.stages.push_back(line.name(words[1]));
    if (what == "fact") plan_.facts.emplace_back(line.name(words[1]), line.name(words[2]));
    if (what == "iterations") plan_.iterations = number(line, words, 0);
    if (what == "steps_per_iteration") plan_.steps_per_iteration = number(line, words, 1);
    if (what == "iterations_per_step") plan_.iterations_per_step = number(line, words, 1);
  }

  /// The whole number after a line's first word.
  std::int64_t number(const PlanLine& line, const std::vector<Word>& words, std::int64_t minimum) {
    return whole_number(line, words[0].text, words[1], minimum);
  }

  void read_pool(const PlanLine& line, const std::vector<Word>& words) {
    declare(line, pools_, words[1], "pool");
    const LineKeys keys(line, words, 2, {"capacity", "limit"}, {"shared", "not_enforced"});
    Pool pool{line.name(words[1]),
              {},
              keys.find("shared") != nullptr,
              keys.find("not_enforced") == nullptr};
    const Word& capacity = keys.get("capacity");
    if (capacity.text != "unlimited")
      pool.capacity = keys.read(capacity, [&] { return parse_bytes(capacity.text, "capacity"); });
    if (const Word* limit = keys.find("limit"))
      pool.limit = keys.read(*limit, [&] { return parse_bytes(limit->text, "limit"); });
    plan_.pools.push_back(std::move(pool));
  }

  void read_link(const PlanLine& line, const std::vector<Word>& words) {
    declare(line, links_, words[1], "link");
    const LineKeys keys(line, words, 2, {"bandwidth", "idle", "busy"});
    const Word& bandwidth = keys.get("bandwidth");
    Link link{line.name(words[1]), keys.quantity("bandwidth", Dimension::bytes_per_s, 0),
              keys.quantity("idle", Dimension::watts, 0),
              keys.quantity("busy", Dimension::watts, 0)};
    if (!(link.bandwidth > 0))
      line.fail(bandwidth.column,
                "'" + std::string(bandwidth.text) + "' for 'bandwidth': it must be more than 0B/s");
    plan_.links.push_back(std::move(link));
  }

  void read_route(const PlanLine& line, const std::vector<Word>& words) {
    declare(line, routes_, words[1], "route");
    const LineKeys keys(line, words, 2, {"links", "setup", "latency"});
    Route route{line.name(words[1]),
                {},
                keys.quantity("setup", Dimension::seconds, 0),
                keys.quantity("latency", Dimension::seconds, 0)};
    for (const Word& link : line.split(keys.get("links"), ','))
      route.links.push_back(look_up(line, links_, link, "link"));
    plan_.routes.push_back(std::move(route));
  }

  void read_stream(const PlanLine& line, const std::vector<Word>& words) {
    declare(line, streams_, words[1], "stream");
    const LineKeys keys(line, words, 2, {"kind", "device", "idle", "busy"});
    const Word& kind = keys.get("kind");
    if (kind.text != "compute" && kind.text != "copy")
      line.fail(kind.column,
                "unknown stream kind '" + std::string(kind.text) + "'; known: compute, copy");
    const Word* device = keys.find("device");
    plan_.streams.push_back(
        {line.name(words[1]), kind.text == "compute" ? StreamKind::compute : StreamKind::copy,
         device ? line.name(*device) : "", keys.quantity("idle", Dimension::watts, 0),
         keys.quantity("busy", Dimension::watts, 0)});
  }

  void read_tensor(const PlanLine& line, const std::vector<Word>& words) {
    declare(line, tensors_, words[1], "tensor");
    const LineKeys keys(line, words, 2, {"class", "bytes", "home"});
    keys.get("bytes");
    const Word* home = keys.find("home");
    plan_.tensors.push_back(
        {line.name(words[1]),
         enum_of<TensorClass>(line, keys.get("class"), tensor_class_count, "tensor class"),
         keys.count("bytes", 0), home ? look_up(line, pools_, *home, "pool") : none});
  }

  void read_action(const PlanLine& line, const std::vector<Word>& words) {
    static const std::vector<std::string> allowed = {
        "on",     "kind",  "stage", "micro_batch", "samples", "samples_done",
        "moves",  "route", "bytes", "seconds",     "flop",    "memory_bytes",
        "joules", "ahead", "waits", "allocates",   "uses"};
    if (words.size() > 1 && PlanLine::find_bare(words[1].text, '=') == std::string_view::npos)
      line.fail(words[1].column, "'" + std::string(words[1].text) +
                                     "': expected key=value after an action's name; pools, links, "
                                     "streams and tensors stand before the first section");
    const LineKeys keys(line, words, 1, allowed);
    Action action;
    action.name = line.name(words[0]);
    if (!names_[static_cast<std::size_t>(section_)].emplace(action.name, size()).second)
      line.fail(words[0].column, "second action called '" + action.name + "' in this section");
    action.stream = look_up(line, streams_, keys.get("on"), "stream");
    action.kind = enum_of<ActionKind>(line, keys.get("kind"), action_kind_count, "kind of action");
    action.stage = keys.label("stage");
    action.micro_batch = keys.label("micro_batch");
    action.samples = keys.count("samples", 0);
    action.samples_done = keys.count("samples_done", 0);
    action.ahead = static_cast<std::int32_t>(keys.count("ahead", 0, -1'000'000, 1'000'000));
    read_work(line, keys, action);
    for (const auto& [key, list] :
         {std::pair{"allocates", &action.allocates}, {"uses", &action.uses}})
      if (const Word* word = keys.find(key))
        for (const Word& part : line.split(*word, ',')) list->push_back(read_placement(line, part));
    if (const Word* waits = keys.find("waits"))
      for (const Word& part : line.split(*waits, ',')) pending_.push_back({size(), line, part});
    plan_.actions.push_back(std::move(action));
    plan_.line_begins.push_back(static_cast<std::size_t>(line.text.data() - text_.data()));
  }

  void read_work(const PlanLine& line, const LineKeys& keys, Action& action) {
    const Word* moves = keys.find("moves");
    const Word* seconds = keys.find("seconds");
    if ((moves == nullptr) == (seconds == nullptr))
      line.fail(1,
                "an action has either 'seconds' (it computes) or 'moves', 'route' and 'bytes' (it "
                "is a transfer)");
    if (moves) {
      action.moves = look_up(line, tensors_, *moves, "tensor");
      action.route = look_up(line, routes_, keys.get("route"), "route");
      keys.get("bytes");
      action.bytes = keys.count("bytes", 0);
      return;
    }
    action.seconds = keys.number("seconds");
    action.flop = keys.number("flop");
    action.memory_bytes = keys.number("memory_bytes");
    action.joules = keys.number("joules");
  }

  Placement read_placement(const PlanLine& line, const Word& word) {
    const std::size_t at = PlanLine::rfind_bare(word.text, '@');
    if (at == std::string_view::npos)
      line.fail(word.column, "'" + std::string(word.text) + "': expected TENSOR@POOL");
    return {look_up(line, tensors_, {word.text.substr(0, at), word.column}, "tensor"),
            look_up(line, pools_,
                    {word.text.substr(at + 1), word.column + static_cast<int>(at) + 1}, "pool")};
  }

  void finish() {
    begin_from(section_ + 1);
    plan_.body_begin = begin_[1];
    plan_.body_end = begin_[2];
    for (const Pending& pending : pending_)
      plan_.actions[pending.action].waits.push_back(read_wait(pending));
  }

  Wait read_wait(const Pending& pending) {
    const PlanLine& line = pending.line;
    Word word = pending.word;
    std::size_t section = static_cast<std::size_t>(plan_.section_of(pending.action));
    Wait wait;
    if (const std::size_t tilde = PlanLine::rfind_bare(word.text, '~');
        tilde != std::string_view::npos) {
      const std::string_view digits = word.text.substr(tilde + 1);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), wait.distance);
      if (error != std::errc{} || end != digits.data() + digits.size())
        line.fail(word.column + static_cast<int>(tilde) + 1,
                  "'" + std::string(digits) +
                      "' after '~': expected how many iterations ago, from 0 to " +
                      std::to_string(std::numeric_limits<std::uint32_t>::max()));
      word.text = word.text.substr(0, tilde);
    }
    if (const std::size_t colon = PlanLine::find_bare(word.text, ':');
        colon != std::string_view::npos) {
      section = static_cast<std::size_t>(
          enum_of<Section>(line, {word.text.substr(0, colon), word.column}, 3, "section"));
      word = {word.text.substr(colon + 1), word.column + static_cast<int>(colon) + 1};
    }
    wait.action = look_up(line, names_[section], word, "action");
    return wait;
  }

  std::shared_ptr<const Source> source_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool formatted_ = false;
  int section_ = -1;
  std::array<std::uint32_t, 3> begin_ = {0, 0, 0};
  Plan plan_;
  Names pools_, links_, routes_, streams_, tensors_;
  std::array<Names, 3> names_;
  std::vector<Pending> pending_;
};

}  // namespace

bool looks_like_plan(std::string_view text) {
  return text.substr(0, 19) == "format: sluice-plan";
}

Plan plan_from_text(std::string_view text, const std::string& name) {
  return PlanReader(text, name).read();
}

}  // namespace sluice
