"""Each case is a profile with one error, or a map with one error. A map says what the columns of a table mean."""

from cases import Case

HEAD = "# format: sluice-profile/1\n"


def profile(name, at, says, text, code=3):
    return Case(name, code, f"scenario.yaml:{at}", says, "scenario.yaml", content=text,
                run=["profile", "show", "scenario.yaml"])


def words(name, says, *line, code=2):
    return Case(name, code, "", says, run=["profile", *line])


def profile_of(name, at, says, command, text):
    where = "scenario.yaml:" + ":".join(map(str, at)) if at else ""
    return Case(name, 3, where, says, "scenario.yaml", content=text, run=["profile", command, "scenario.yaml"])


CASES = [
    profile("an unknown column of a profile", "2:10", ["unknown column 'secnds_mean'", "did you mean 'seconds_mean'"],
            HEAD + "operator,secnds_mean\ngemm,1\n"),
    profile("an invalid time of a profile", "3:6", ["seconds_mean: '1ms'", "expected a number of at least 0"],
            HEAD + "operator,seconds_mean\ngemm,1ms\n"),
    profile("a row that a profile has twice", "4:1", ["repeats the row of line 3"], HEAD + "operator,seconds_mean\ngemm,1\ngemm,2\n"),
    profile("a row of a profile that is too short", "3:1", ["has 1 cells; expected 2"], HEAD + "operator,seconds_mean\ngemm\n"),
    profile("an unknown dtype of a profile", "3:6", ["dtype", "float32"], HEAD + "operator,dtype\ngemm,f32\n"),
    profile("an unknown key of a profile", "2:3", ["unknown key 'jouls'", "did you mean 'joules'"],
            HEAD + "# jouls: whole\noperator\n"),
    profile("an invalid default of a profile", "2:21", ["'warm'", "hot, cold, chained"],
            HEAD + "# defaults: {cache: warm}\noperator\n"),
    profile("an unknown table", "1:1", ["this is neither a profile", "--map MAP.yaml"], "a,b\n1,2\n"),
    profile_of("a fit of a link to a profile without copies", [], ["holds no copies"], "link", HEAD + "operator\ngemm\n"),
    profile_of("copies without a number of bytes", [3, 1], ["how many bytes"], "link",
               HEAD + "operator,input_pools,output_pools,seconds_mean\ncopy,pinned,device,1\n"),
    words("a plan that fixes tensors without memories", ["'--fixed' needs '--pools'"], "plan", "model.yaml", "--fixed", "weights"),
    words("a plan that fixes an unknown tensor", ["no tensor is called 'wieghts'", "did you mean 'weights'"],
          "plan", "model.yaml", "--pools", "A,B", "--fixed", "wieghts", code=3),
    words("a profile without a subcommand", ["no subcommand of profile", "show, compare"]),
    words("an unknown subcommand", ["'shwo'", "did you mean 'show'"], "shwo"),
    words("a comparison of a single profile", ["--between COLUMN=A,B"], "compare", "a.csv"),
    words("a comparison with only one kind of rows", ["'cache=hot' for '--between'"], "compare", "table.json", "--between", "cache=hot"),
]
