#include "embed/files/vectors.h"

#include <doctest/doctest.h>

#include <cstring>

#include "embed/files/labels.h"

namespace sonde::embed {
namespace {

std::string npy(std::string_view dictionary, std::string_view values) {
  std::string header(dictionary);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  return file + header + std::string(values);
}

template <class T>
std::string bytes(std::initializer_list<T> values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), std::data(values), out.size());
  return out;
}

}  // namespace

TEST_CASE("vectors: .npy of every kind of number gives the same rows") {
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  const struct {
    const char* promise;
    std::string dictionary, values;
  } cases[] = {
      {"float32", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
       bytes<float>({1, 2, 3, 4, 5, 6})},
      {"float64", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}",
       bytes<double>({1, 2, 3, 4, 5, 6})},
      {"columns first", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
       bytes<float>({1, 4, 2, 5, 3, 6})},
      {"bytes", "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }",
       bytes<uint8_t>({1, 2, 3, 4, 5, 6})},
      {"wide integers", "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }",
       bytes<int64_t>({1, 2, 3, 4, 5, 6})},
      {"half precision", "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }",
       bytes<uint16_t>({0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600})},
      {"big-endian", "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }",
       bytes<uint16_t>({0x100, 0x200, 0x300, 0x400, 0x500, 0x600})},
      {"three axes", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 1), }",
       bytes<float>({1, 2, 3, 4, 5, 6})},
  };
  for (const auto& c : cases) {
    INFO(c.promise);
    const auto matrix = parse_npy(npy(c.dictionary, c.values));
    REQUIRE(matrix);
    CHECK(matrix->rows == 2);
    CHECK(matrix->columns == 3);
    CHECK(matrix->values == rows);
    CHECK(parse_npy(npy(c.dictionary, c.values), 1)->values.size() == 3);
  }
}

TEST_CASE("vectors: hostile .npy files are refused without allocating what they claim") {
  const std::string values = bytes<float>({1, 2});
  for (const char* dictionary :
       {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4611686018427387905), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -1), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", "{}", ""}) {
    INFO(dictionary);
    CHECK_FALSE(parse_npy(npy(dictionary, values)));
  }
  const std::string whole =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", values);
  for (size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(parse_npy(whole.substr(0, size)));
}

TEST_CASE("vectors: text with tabs, commas or blanks, with and without a word in front") {
  for (const char* text : {"1\t2\n3\t4\n", "1,2\n3,4", "1 2\n\n 3  4 \n", "1\t2\r\n3\t4\r\n"}) {
    const auto parsed = parse_vectors(text, 0);
    REQUIRE(parsed);
    CHECK(parsed->matrix.values == std::vector<float>{1, 2, 3, 4});
    CHECK(parsed->labels.empty());
  }
  const auto named = parse_vectors("otter\t1\t2\nheron\t-3e2\tnan\n", 0);
  REQUIRE(named);
  CHECK(named->labels == std::vector<std::string>{"otter", "heron"});
  CHECK(named->matrix.values[2] == -300);
  for (const char* text : {"1\t2\n3\n", "a b\nc d\n", "1\n2\n", "", "1\t2\n", "x\t1\t2\n3\t4\n"}) {
    INFO(text);
    CHECK_FALSE(parse_vectors(text, 0));
  }
  CHECK_FALSE(parse_vectors(std::string_view("\0\1\2\3", 4), 0));
  CHECK(parse_vectors(bytes<float>({1, 2, 3, 4}), 2)->matrix.rows == 2);
  CHECK_FALSE(parse_vectors(bytes<float>({1, 2, 3, 4}), 3));
}

TEST_CASE("labels: header rules, types of columns, lines that are missing") {
  const Labels several = parse_labels("name\tage\na\t1\nb\t\na\t2.5\n", 3);
  REQUIRE(several.columns.size() == 2);
  CHECK(several.warnings.empty());
  CHECK(several.columns[0].words == std::vector<std::string>{"a", "b"});
  CHECK(several.columns[0].codes == std::vector<uint32_t>{0, 1, 0});
  CHECK(several.columns[1].is_number);
  CHECK(several.columns[1].numbers[2] == 2.5);

  const Labels single = parse_labels("a\nb\n", 2);
  CHECK(single.columns[0].codes.size() == 2);
  CHECK(single.warnings.empty());
  CHECK(parse_labels("head\na\nb\n", 2).columns[0].name == "head");
  CHECK(parse_labels("head\na\nb\n", 2).warnings.size() == 1);
  CHECK(parse_labels("a\tb\nc\td\n", 2).columns[0].words[0] == "a");
  const Labels fewer = parse_labels("x\ty\n1\t2\n", 3);
  CHECK(fewer.columns[0].codes.size() == 3);
  CHECK(fewer.warnings.size() == 1);
  CHECK(parse_labels("", 3).columns.empty());
  CHECK(parse_labels("x\tx\n1\t2\n3\t4\n", 2).columns[1].name != "x");
}

}  // namespace sonde::embed
