// Edits of an HDF5 file, as a text that the fuzzer writes. HDF5's own library may crash on a file with damaged bytes.
// So the fuzzer does not change the bytes of a file. Instead, it removes, replaces and changes the datasets and
// attributes of a valid file. In this way, it tests only the readers of Sluice.
#pragma once

#include <string>
#include <vector>

namespace sluice::test {

/// Applies the edits, one per line, to the file: at most 30 lines. A line has a letter, an object, and numbers or a
/// text. The object is named by its number or by its path:
///   d 7            removes object 7
///   s 7 2 1e300    sets row 2 of dataset 7 to 1e300
///   r 7 1 2 3      makes dataset 7 a column of these numbers, and keeps its type
///   y 7 4 1 2 3    makes dataset 7 a column of the numbers 1 2 3, with type number 4
///   t 7 a b c      makes dataset 7 a column of these words
///   a 7 2 any text sets attribute 2 of object 7 to this text
///   i 7 2 1 2 3    sets attribute 2 of object 7 to these integers
/// Objects are the groups and datasets in the order of their names, as hdf5_objects() returns them. A number that is
/// too large is replaced by its remainder. For example, 7 means object 2 if there are 5 objects. So nearly every line
/// changes the file. If HDF5 refuses the edit of a line, the line is skipped.
void edit_hdf5(const std::string& path, const std::vector<std::string>& objects,
               const std::string& edits);

/// Returns the objects of a file in the order of their names. It takes long
/// to visit all objects, so the fuzzer calls this function once per file.
std::vector<std::string> hdf5_objects(const std::string& path);

}  // namespace sluice::test
