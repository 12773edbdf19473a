// FlatBuffers, written front to back: a table, then what it points to. Enough for Arrow's messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::table {

class Flat {
 public:
  // A member of a table. Those that point somewhere are filled in by point() later.
  struct Member {
    int id;
    size_t size;         // in bytes: 1, 2, 4, 8
    uint64_t value = 0;  // of a number
  };
  static Member number(int id, size_t size, int64_t value) {
    return {id, size, static_cast<uint64_t>(value)};
  }
  static Member reference(int id) { return {id, sizeof(uint32_t), 0}; }

  Flat() : out_(sizeof(uint32_t), '\0') {}  // where the root table begins

  struct Table {
    size_t position;
    std::vector<size_t> members;  // where each member stands, in the order given
  };

  // Appends a table. The largest members stand first, so that all are aligned.
  Table table(const std::vector<Member>& members) {
    int most = -1;
    for (const Member& member : members) most = std::max(most, member.id);
    std::vector<size_t> places(members.size());
    size_t size = sizeof(int32_t);
    for (const size_t width : {8, 4, 2, 1}) {
      for (size_t i = 0; i < members.size(); ++i) {
        if (members[i].size != width) continue;
        size = (size + width - 1) / width * width;
        places[i] = size;
        size += width;
      }
    }
    std::vector<uint16_t> offsets(static_cast<size_t>(most + 1), 0);
    for (size_t i = 0; i < members.size(); ++i)
      offsets[static_cast<size_t>(members[i].id)] = static_cast<uint16_t>(places[i]);
    align(2);
    const size_t vtable = out_.size();
    put<uint16_t>(static_cast<uint16_t>(2 * sizeof(uint16_t) + offsets.size() * sizeof(uint16_t)));
    put<uint16_t>(static_cast<uint16_t>(size));
    for (const uint16_t offset : offsets) put(offset);
    align(8);
    Table table{out_.size(), {}};
    put<int32_t>(static_cast<int32_t>(table.position - vtable));
    out_.resize(table.position + size, '\0');
    for (size_t i = 0; i < members.size(); ++i) {
      std::memcpy(out_.data() + table.position + places[i], &members[i].value, members[i].size);
      table.members.push_back(table.position + places[i]);
    }
    return table;
  }

  size_t text(std::string_view value) {
    align(4);
    const size_t position = out_.size();
    put<uint32_t>(static_cast<uint32_t>(value.size()));
    out_.append(value).push_back('\0');
    return position;
  }

  // A list of `count` references; point() fills them in.
  Table references(size_t count) {
    align(4);
    Table list{out_.size(), {}};
    put<uint32_t>(static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) {
      list.members.push_back(out_.size());
      put<uint32_t>(0);
    }
    return list;
  }

  // A list of structs of 8-byte alignment, given as its bytes.
  size_t structs(size_t count, std::string_view bytes) {
    while ((out_.size() + sizeof(uint32_t)) % 8 != 0) out_.push_back('\0');
    const size_t position = out_.size();
    put<uint32_t>(static_cast<uint32_t>(count));
    out_.append(bytes);
    return position;
  }

  void point(size_t member, size_t target) {
    const auto offset = static_cast<uint32_t>(target - member);
    std::memcpy(out_.data() + member, &offset, sizeof offset);
  }
  void root(const Table& table) { point(0, table.position); }

  std::string take() {
    align(8);
    return std::move(out_);
  }

 private:
  template <class T>
  void put(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void align(size_t to) { out_.resize((out_.size() + to - 1) / to * to, '\0'); }

  std::string out_;
};

}  // namespace sonde::table
