#include "plan/action_reader.hpp"

#include "base/number_in.hpp"

namespace sluice {

namespace {

// The keys of an action, in the order in which messages list them. In version 1 of the format, an action has only the
// keys before `flows`.
enum Key : std::size_t {
  on,
  kind,
  stage,
  micro_batch,
  samples,
  samples_done,
  moves,
  route,
  bytes,
  seconds,
  flop,
  memory_bytes,
  joules,
  ahead,
  waits,
  allocates,
  uses,
  flows,
  part,
  not_before,
  collective,
  measured_s,
  key_count
};
constexpr std::array<std::string_view, key_count> action_keys = {
    "on",    "kind",    "stage", "micro_batch",  "samples",    "samples_done", "moves", "route",
    "bytes", "seconds", "flop",  "memory_bytes", "joules",     "ahead",        "waits", "allocates",
    "uses",  "flows",   "part",  "not_before",   "collective", "measured_s"};
static_assert(key_count <= KeyList::most_keys);

constexpr KeyList allowed_1{std::span(action_keys).first(flows)}, allowed_2{action_keys};

/// Returns the line that begins at character `begin` of the text.
PlanLine line_at(std::string_view text, std::size_t begin, const std::string& file) {
  const auto above =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  return {&file, static_cast<int>(above) + 1, text.substr(begin, text.find('\n', begin) - begin)};
}

}  // namespace

std::string_view NameTables::kept(const PlanLine& line, const Word& word) {
  if (word.equals == std::string_view::npos && is_bare(word)) return word.text;
  return unquoted_.emplace_back(line.name(word));
}

std::string NameTables::declare(const PlanLine& line, Names& names, const Word& word,
                                const char* what) {
  const std::string_view name = kept(line, word);
  if (!names.add(name))
    line.fail(word.column, std::string("second ") + what + " called '" + std::string(name) + "'");
  return std::string(name);
}

ActionKind kind_of(const PlanLine& line, const Word& word) {
  std::vector<std::string> known;
  for (const KindRecord& record : action_kinds())
    if (same_name(record.name, word.text)) return record.kind;
  if (word.text == "receive")
    line.fail(
        word.column,
        "'receive' is no longer a kind of action: delete this line, and let the actions that wait "
        "for it wait for the send");
  for (const KindRecord& record : action_kinds()) known.emplace_back(record.name);
  line.fail(word.column, "unknown kind of action '" + std::string(word.text) + "'" +
                             did_you_mean(word.text, known) + "; known: " + join(known));
}

const KeyList& ActionReader::allowed() const {
  return tables_.version == 1 ? allowed_1 : allowed_2;
}

void ActionReader::read(const PlanLine& line, const std::vector<Word>& words, Section section) {
  if (words.size() > 1 && words[1].equals == std::string_view::npos)
    line.fail(words[1].column, "'" + std::string(words[1].text) +
                                   "': expected key=value after an action's name; declare pools, "
                                   "links, streams and tensors before the first section");
  read(line, words[0], LineKeys(line, words, 1, allowed()), section);
}

void ActionReader::read(const PlanLine& line, const Word& name, const LineKeys& keys,
                        Section section) {
  section_ = static_cast<std::size_t>(section);
  if (first_[section_] == none) first_[section_] = static_cast<std::uint32_t>(plan_.actions.size());
  Action& action = plan_.actions.emplace_back();
  read_name(line, keys, name, action);
  action.stream = streams_.look_up(line, tables_.streams, keys.get(on), "stream");
  action.samples = keys.count(samples, 0);
  action.samples_done = keys.count(samples_done, 0);
  action.ahead = static_cast<std::int32_t>(keys.count(ahead, 0, -1'000'000, 1'000'000));
  action.not_before = keys.quantity(not_before, Dimension::seconds, 0);
  if (const Word* word = keys.find(collective))
    action.collective = look_up(line, tables_.collectives, *word, "collective");
  if (const Word* word = keys.find(part))
    action.part = enum_of<WorkPart>(line, *word, work_part_count, "part of a stage's work");
  read_work(line, keys, action);
  read_lists(line, keys, action);
}

/// Reads the name of an action. If the action has no key 'kind', its name gives its kind, stage and micro-batch.
void ActionReader::read_name(const PlanLine& line, const LineKeys& keys, const Word& word,
                             Action& action) {
  const std::string_view name = tables_.kept(line, word);
  if (name.empty()) line.fail(word.column, "the name of an action must not be empty");
  const std::optional<FormulaName> formula = formula_of(name);
  if (!names_[section_].add(name, formula, static_cast<std::uint32_t>(plan_.actions.size() - 1)))
    line.fail(word.column, "second action called '" + std::string(name) + "' in this section");
  const Word* kind_word = keys.find(kind);
  if (kind_word || tables_.version == 1) {
    action.kind = kind_of(line, keys.get(kind));
    action.stage = keys.label(stage);
    action.micro_batch = keys.label(micro_batch);
    if (formula != FormulaName{action.kind, action.stage, action.micro_batch}) action.name = name;
    return;
  }
  if (!formula)
    line.fail(word.column, "'" + std::string(name) +
                               "' does not name a kind of action: add 'kind=...', or use a name of "
                               "stage, letter and micro-batch, such as 3F0 or 1LOAD");
  for (const Key key : {stage, micro_batch})
    if (const Word* extra = keys.find(key))
      line.fail(extra->column, "'" + std::string(action_keys[key]) +
                                   "' needs the key 'kind': without this key, the name "
                                   "'" +
                                   std::string(name) + "' gives kind, stage and micro-batch");
  action.kind = formula->kind;
  action.stage = formula->stage;
  action.micro_batch = formula->micro_batch;
}

void ActionReader::read_work(const PlanLine& line, const LineKeys& keys, Action& action) {
  const bool computes = keys.find(seconds) != nullptr, transfers = record_of(action.kind).transfers;
  const bool has_flows = keys.find(moves) || keys.find(flows);
  if (tables_.version == 1 && computes == has_flows)
    line.fail(
        1,
        "an action has either 'seconds' (it computes) or 'moves', 'route' and 'bytes' (it is a transfer)");
  if (computes && has_flows && transfers)
    line.fail(1, "an action of the kind " + std::string(name_of(action.kind)) +
                     " cannot have both 'seconds' and 'moves' or 'flows': remove 'seconds'");
  if (!computes && !has_flows)
    line.fail(1, transfers ? "a transfer needs 'moves' and 'route', or 'flows'"
                           : "a computation needs 'seconds'");
  if (!computes && !transfers && tables_.version > 1)
    line.fail(1, "an action of the kind " + std::string(name_of(action.kind)) +
                     " needs 'seconds', in addition to its flows over links");
  if (keys.find(moves) && keys.find(flows))
    line.fail(keys.find(flows)->column, "give either 'moves' or 'flows', not both");
  if (keys.find(moves)) read_moves(line, keys, action);
  if (const Word* list = keys.find(flows))
    PlanLine::split(*list, ',',
                    [&](const Word& one) { action.flows.push_back(read_flow(line, one)); });
  if (!transfers || computes) action.seconds = keys.number(seconds);
  action.flop = keys.number(flop);
  action.memory_bytes = keys.number(memory_bytes);
  action.joules = keys.number(joules);
  action.measured_s = keys.number(measured_s);
}

/// Reads the flow of a transfer that moves one tensor. Without the key 'bytes', the whole tensor is moved.
void ActionReader::read_moves(const PlanLine& line, const LineKeys& keys, Action& action) {
  Flow flow;
  flow.tensor = tensors_.look_up(line, tables_.tensors, *keys.find(moves), "tensor");
  flow.route = routes_.look_up(line, tables_.routes, keys.get(route), "route");
  if (tables_.version == 1) keys.get(bytes);
  flow.bytes = keys.count(bytes, plan_.tensors[flow.tensor].bytes);
  action.flows.push_back(flow);
}

/// Reads a flow, written as TENSOR@ROUTE, TENSOR@ROUTE:BYTES or @ROUTE:BYTES.
Flow ActionReader::read_flow(const PlanLine& line, const Word& word) const {
  const std::size_t at = PlanLine::find_bare(word.text, '@');
  if (at == std::string_view::npos)
    line.fail(word.column,
              "'" + std::string(word.text) + "': expected TENSOR@ROUTE:BYTES, or @ROUTE:BYTES");
  Word rest{word.text.substr(at + 1), word.column + static_cast<int>(at) + 1};
  const std::size_t colon = PlanLine::find_bare(rest.text, ':');
  Flow flow;
  if (at > 0)
    flow.tensor = look_up(line, tables_.tensors, {word.text.substr(0, at), word.column}, "tensor");
  flow.route = look_up(line, tables_.routes, {rest.text.substr(0, colon), rest.column}, "route");
  if (colon != std::string_view::npos)
    flow.bytes = whole_number(
        line, "flows", {rest.text.substr(colon + 1), rest.column + static_cast<int>(colon) + 1}, 0);
  else if (flow.tensor != none)
    flow.bytes = plan_.tensors[flow.tensor].bytes;
  else
    line.fail(word.column, "'" + std::string(word.text) +
                               "': a flow without a tensor needs its bytes: write @ROUTE:BYTES");
  return flow;
}

void ActionReader::read_lists(const PlanLine& line, const LineKeys& keys, Action& action) {
  if (const Word* list = keys.find(allocates))
    PlanLine::split(*list, ',', [&](const Word& one) {
      action.allocates.push_back(read_placement(line, one));
    });
  if (const Word* list = keys.find(uses))
    PlanLine::split(*list, ',',
                    [&](const Word& one) { action.uses.push_back(read_access(line, one)); });
  if (const Word* list = keys.find(waits))
    PlanLine::split(*list, ',', [&](const Word& one) { read_wait(line, one, action); });
}

/// Reads TENSOR@POOL. If `distance` is given, also reads TENSOR~2@POOL, and sets `*distance` to 2.
Placement ActionReader::read_placement(const PlanLine& line, const Word& word,
                                       std::uint16_t* distance) const {
  const std::size_t at = PlanLine::rfind_bare(word.text, '@');
  if (at == std::string_view::npos)
    line.fail(word.column, "'" + std::string(word.text) + "': expected TENSOR@POOL");
  Word tensor{word.text.substr(0, at), word.column};
  if (distance) *distance = take_distance<std::uint16_t>(line, tensor);
  return {look_up(line, tables_.tensors, tensor, "tensor"),
          look_up(line, tables_.pools,
                  {word.text.substr(at + 1), word.column + static_cast<int>(at) + 1}, "pool")};
}

/// Reads an access of an action: with TENSOR@POOL, the action reads the tensor, with TENSOR@POOL:w it writes the
/// tensor, and with TENSOR@POOL:rw it reads and writes the tensor. With TENSOR~1@POOL, this is the instance of the
/// iteration before.
Access ActionReader::read_access(const PlanLine& line, const Word& word) const {
  const std::size_t colon =
      tables_.version == 1 ? std::string_view::npos : PlanLine::find_bare(word.text, ':');
  std::uint16_t distance = 0;
  const Placement placement =
      read_placement(line, {word.text.substr(0, colon), word.column}, &distance);
  if (colon == std::string_view::npos)
    return {.tensor = placement.tensor, .pool = placement.pool, .distance = distance};
  const std::string_view how = word.text.substr(colon + 1);
  if (how != "w" && how != "rw")
    line.fail(word.column + static_cast<int>(colon) + 1,
              "'" + std::string(how) +
                  "' after ':': expected w (the action writes the tensor) or rw (the action reads "
                  "and writes the tensor)");
  return {.tensor = placement.tensor,
          .pool = placement.pool,
          .read = how == "rw",
          .written = true,
          .distance = distance};
}

void ActionReader::read_wait(const PlanLine& line, Word word, Action& action) {
  Wait wait;
  std::size_t section = section_;
  word.bare = is_bare(word);
  if (!word.bare) {
    wait.distance = take_distance<std::uint32_t>(line, word);
    section = take_section(line, word);
  }
  wait.action = is_bare(word) ? names_[section].find(word.text) : ActionNames::unknown;
  if (wait.action == ActionNames::unknown)
    pending_.push_back({static_cast<std::uint32_t>(plan_.actions.size() - 1),
                        static_cast<std::uint32_t>(action.waits.size()),
                        static_cast<std::uint32_t>(word.column),
                        static_cast<std::uint32_t>(word.text.size()), section});
  action.waits.push_back(wait);
}

/// Removes '~' and the number behind '~' from a word such as `0F0~2`, and returns the number. Returns 0 if the word has
/// no '~'.
template <class Number>
Number ActionReader::take_distance(const PlanLine& line, Word& word) {
  const std::size_t tilde = PlanLine::rfind_bare(word.text, '~');
  if (tilde == std::string_view::npos) return 0;
  const std::string_view digits = word.text.substr(tilde + 1);
  const std::optional<Number> distance = number_in<Number>(digits);
  if (!distance)
    line.fail(word.column + static_cast<int>(tilde) + 1,
              "'" + std::string(digits) +
                  "' after '~': expected a number of iterations from 0 to " +
                  std::to_string(std::numeric_limits<Number>::max()));
  word.text = word.text.substr(0, tilde);
  return *distance;
}

/// Removes the section and ':' from a word such as `prologue:0LOAD`, and returns the section. If the word has no ':',
/// returns the section of the action itself.
std::size_t ActionReader::take_section(const PlanLine& line, Word& word) const {
  const std::size_t colon = PlanLine::find_bare(word.text, ':');
  if (colon == std::string_view::npos) return section_;
  const auto section = static_cast<std::size_t>(
      enum_of<Section>(line, {word.text.substr(0, colon), word.column}, 3, "section"));
  word = {word.text.substr(colon + 1), word.column + static_cast<int>(colon) + 1};
  return section;
}

/// Throws the error that no action of the section has the name in `word`.
void ActionReader::fail_unknown(const PlanLine& line, std::size_t section, const Word& word) const {
  auto end = static_cast<std::uint32_t>(plan_.actions.size());
  for (std::size_t later = first_.size(); --later > section;) end = std::min(end, first_[later]);
  std::deque<std::string> written;
  Names names;
  for (std::uint32_t a = std::min(first_[section], end); a < end; ++a)
    names.add(written.emplace_back(name_of(plan_.actions[a])));
  look_up(line, names, word, "action");
  throw InternalError("an action of the plan was not found by its name");
}

void ActionReader::resolve_waits(std::string_view text, const std::string& file) {
  for (const Pending& pending : pending_) {
    const std::size_t begin = plan_.line_begins[pending.action];
    const Word word{text.substr(begin + pending.column - 1, pending.size),
                    static_cast<int>(pending.column)};
    const ActionNames& names = names_[pending.section];
    std::uint32_t action = is_bare(word) ? names.find(word.text) : ActionNames::unknown;
    if (action == ActionNames::unknown && !is_bare(word))
      action = names.find(line_at(text, begin, file).name(word));
    if (action == ActionNames::unknown)
      fail_unknown(line_at(text, begin, file), pending.section, word);
    plan_.actions[pending.action].waits[pending.place].action = action;
  }
}

}  // namespace sluice
