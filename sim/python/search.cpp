// The binding of searches for the Python module. The file search.py of the package wraps this binding in a class.
#include "study/search/search.hpp"

#include <pybind11/stl.h>

#include "python/module.hpp"
#include "study/search/trials.hpp"
#include "study/sweep/store.hpp"

namespace sluice::python {
namespace {

/// A search: its request, and the points that have been computed so far.
class Search {
 public:
  Search(const Variants& variants, std::vector<SearchKey> keys, const std::string& goal,
         bool maximise, const std::vector<std::string>& limits, Store* store, bool retry_failed)
      : request_{.variants = variants, .keys = std::move(keys)} {
    request_.goal = {parse_search_number(goal, request_.keys), maximise};
    for (const std::string& limit : limits) request_.limits.push_back(parse_search_limit(limit));
    request_.store = store;
    request_.retry_failed = retry_failed;
  }

  SearchResult run(std::size_t most_points, std::size_t jobs, const py::object& progress) {
    request_.most_points = most_points;
    request_.jobs = jobs;
    request_.progress = progress_of(progress);
    const py::gil_scoped_release free;
    return run_search(request_);
  }

  /// Computes one point. Returns the status of the point, and the number by which points with the same status are
  /// compared (Merit in study/search). The status is "keeps" if the point keeps all limits, and "breaks" if it breaks a
  /// limit. The status of all other points is "refused".
  std::pair<std::string, double> ask(const SearchRow& row) {
    request_.progress = progress_of(py::none());
    const py::gil_scoped_release free;
    const Merit& merit = trials_.merit(trials_.ask(row));
    static constexpr const char* status_names[] = {"keeps", "breaks", "refused"};
    return {status_names[static_cast<int>(merit.status)], merit.number};
  }

  std::size_t size() const { return trials_.size(); }
  SearchResult result() { return trials_.result(); }
  const SearchRequest& request() const { return request_; }

 private:
  SearchRequest request_;
  Trials trials_{request_};
};

void bind_key(py::module_& module) {
  py::class_<SearchKey>(module, "SearchKey")
      .def(py::init([](const std::string& key, const std::vector<std::string>& values) {
        return SearchKey{.key = key, .values = values};
      }))
      .def_static("parse", &parse_search_key)
      .def_readonly("key", &SearchKey::key)
      .def_readonly("values", &SearchKey::values)
      .def_readonly("low", &SearchKey::low)
      .def_readonly("high", &SearchKey::high)
      .def_readonly("unit", &SearchKey::unit)
      .def_property_readonly("kind",
                             [](const SearchKey& self) {
                               static constexpr const char* kinds[] = {"listed", "whole", "real"};
                               return kinds[static_cast<int>(self.kind)];
                             })
      .def("text_of", &SearchKey::text_of)
      .def("text_at", &SearchKey::text_at);
}

void bind_result(py::module_& module) {
  py::class_<SearchResult>(module, "SearchResult")
      .def_readonly("best", &SearchResult::best)
      .def_readonly("beyond", &SearchResult::beyond)
      .def_readonly("as_good", &SearchResult::as_good)
      .def_readonly("all_asked", &SearchResult::all_asked)
      .def_readonly("exhaustive", &SearchResult::exhaustive)
      .def_readonly("used_up", &SearchResult::used_up)
      .def_property_readonly("from_store",
                             [](const SearchResult& self) { return self.sweep.from_store; })
      .def_property_readonly("outcomes",
                             [](const SearchResult& self) { return self.sweep.outcomes; })
      .def_readonly("points", &SearchResult::points)
      .def("value", [](const SearchResult& self, std::size_t place, std::size_t axis) {
        return self.points.value(place, axis);
      });
}

}  // namespace

void bind_search(py::module_& module) {
  bind_key(module);
  bind_result(module);
  py::class_<Search>(module, "Search")
      .def(py::init<const Variants&, std::vector<SearchKey>, const std::string&, bool,
                    const std::vector<std::string>&, Store*, bool>(),
           py::keep_alive<1, 2>(), py::keep_alive<1, 7>())
      .def("run", &Search::run)
      .def("ask", &Search::ask)
      .def("result", &Search::result)
      .def("__len__", &Search::size)
      .def_property_readonly("goal",
                             [](const Search& self) { return self.request().goal.number.name; })
      .def_property_readonly("limits", [](const Search& self) {
        // Returns one tuple per limit. Each tuple has three elements: the text of the limit, the column of the limited
        // metric, and the number that this metric must not exceed or must reach.
        py::list limits;
        for (const SearchLimit& limit : self.request().limits)
          limits.append(py::make_tuple(limit.text, limit.number.name, limit.limit));
        return limits;
      });
}

}  // namespace sluice::python
