#include "capture/analysis/hlo/module.h"

#include <fmt/format.h>

#include <charconv>

namespace sonde::capture::hlo {

std::string Instruction::framework_op() const {
  if (op_name.empty() && op_type.empty()) return {};
  return op_name + ":" + op_type;
}

const Instruction* Module::with_id(int64_t id) const {
  const auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : &instructions[found->second];
}

std::string Module::source(const Instruction& instruction) const {
  if (!instruction.source_file.empty())
    return fmt::format("{}:{}", instruction.source_file, instruction.source_line);
  if (instruction.stack_frame > 0 &&
      static_cast<size_t>(instruction.stack_frame) <= frames.size()) {
    const Frame& frame = frames[static_cast<size_t>(instruction.stack_frame) - 1];
    if (frame.location > 0 && static_cast<size_t>(frame.location) <= locations.size()) {
      const Location& location = locations[static_cast<size_t>(frame.location) - 1];
      if (location.file > 0 && static_cast<size_t>(location.file) <= file_names.size())
        return fmt::format("{}:{}", file_names[static_cast<size_t>(location.file) - 1],
                           location.line);
    }
  }
  return {};
}

std::string Module::source_stack(const Instruction& instruction) const {
  std::string out;
  int32_t id = instruction.stack_frame;
  for (int depth = 0; id > 0 && static_cast<size_t>(id) <= frames.size() && depth < 256; ++depth) {
    const Frame& frame = frames[static_cast<size_t>(id) - 1];
    if (frame.location > 0 && static_cast<size_t>(frame.location) <= locations.size()) {
      const Location& l = locations[static_cast<size_t>(frame.location) - 1];
      const bool known = l.file > 0 && static_cast<size_t>(l.file) <= file_names.size();
      if (!out.empty()) out += "\n";
      out += fmt::format("{}:{}:{}",
                         known ? file_names[static_cast<size_t>(l.file) - 1] : std::string("?"),
                         l.line, l.column);
    }
    id = frame.parent;
  }
  return out;
}

Modules::Modules(const trace::Trace& trace) {
  const trace::KeyId proto_keys[] = {trace.key("Hlo Proto"), trace.key("HLO Proto"),
                                     trace.key("hlo_proto")};
  const trace::KeyId program_key = trace.key("program_id");
  const trace::KeyId id_key = trace.key("xplane.metadata_id");
  for (const trace::Label& label : trace.labels()) {
    if (label.args.count == 0) continue;
    std::optional<trace::ArgValue> proto;
    for (const trace::KeyId key : proto_keys) {
      if (!proto) proto = trace.find(label.args, key);
    }
    if (!proto || proto->type != trace::ArgType::kBytes) continue;
    auto parsed = parse_module(trace.bytes_of(*proto));
    if (!parsed) continue;
    auto module = std::make_unique<Module>(std::move(*parsed));
    module->display_name = trace.text(label.name);
    const size_t open = module->display_name.rfind('(');
    uint64_t number = 0;
    bool in_name = false;
    if (open != std::string::npos) {
      const char* end = module->display_name.data() + module->display_name.size();
      in_name =
          std::from_chars(module->display_name.data() + open + 1, end, number).ec == std::errc();
    }
    if (const auto program = trace.find(label.args, program_key)) {
      module->program_id = program->as_uint();
    } else if (in_name) {
      module->program_id = number;
    } else if (const auto id = trace.find(label.args, id_key)) {
      module->program_id = id->as_uint();
    }
    if (!in_name)
      module->display_name = fmt::format("{}({})", module->display_name, module->program_id);
    std::erase_if(modules_, [&](const auto& m) { return m->program_id == module->program_id; });
    modules_.push_back(std::move(module));
  }
}

const Module* Modules::by_program(uint64_t program_id) const {
  for (const auto& module : modules_) {
    if (module->program_id == program_id) return module.get();
  }
  return nullptr;
}

const Module* Modules::by_display_name(std::string_view name) const {
  for (const auto& module : modules_) {
    if (module->display_name == name || module->name == name) return module.get();
  }
  return nullptr;
}

}  // namespace sonde::capture::hlo
