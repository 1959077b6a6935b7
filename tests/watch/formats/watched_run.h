// A run folder with all that runs write about themselves, for tests of formats.
#pragma once

#include <string>

#include "watch/run_folders.h"

namespace trireme::watch {

inline const char* const kWorkersLine =
    R"({"type":"workers","time":1000.0,"step":10,"seconds":1.0,"lateness":"","workers":[)"
    R"({"worker":0,"host":"a","seconds":{"load":0.25,"forward":0.5,"network":0.125},"steps":10,"caused_seconds":0.0,"oars":[0,4],"clock":3},)"
    R"({"worker":1,"host":"b","seconds":{"load":0.5,"hidden_network":0.25},"steps":10,"caused_seconds":0.75,"oars":null,"clock":5}]})"
    "\n";

inline void write_watched_run(const base::fs::path& run) {
  nlohmann::json about = nlohmann::json::parse(run_json("lenet5", 2));
  about["resolved"]["batch"] = 64;
  about["trireme"] = "0.1 abc";
  about["configuration"]["data"] = "a \"quoted\"\\\nname";
  write_file(run / "run.json", about.dump());
  write_file(
      run / "metrics.jsonl",
      R"({"type":"hand_over","time":990.0,"step":0,"strategy":"allreduce","seconds":0.1,"is_switch":false})"
      "\n" +
          std::string(kWorkersLine) + step_line(11, 0.5) + epoch_line(0, 0.875) +
          R"({"type":"checkpoint","time":1000.5,"step":11,"seconds":0.5,"is_best":true})"
          "\n"
          R"({"type":"new in a later version","step":11,"what":[1,2]})"
          "\n"
          R"({"type":"push","step":12,"worker":0,"clock":1,"slowest":null})"
          "\n"
          R"({"type":"step","time":1002.0,"step":20,"epoch":1,"loss":0.25,"accuracy":null,"lr":0.05,"seconds":{}})"
          "\n{\"type\":\"st");
  write_file(
      run / "resources.jsonl",
      R"({"host":"a","rank":0,"time":1000.0,"seconds":1.0,"cpu_user":1.5,"cpu_system":0.25,"cpus":"0-1","resident_bytes":4096,"threads":7,"voluntary_switches":10})"
      "\n"
      R"({"host":"a","rank":null,"time":1000.0,"seconds":1.0,"cores":2,"cpu_user":1.5,"cpu_system":0.25,"cpu_iowait":0.0,"core":{"number":[0,3],"user":[0.5,1],"system":[0.25,0],"iowait":[0,0]},"running":3,"load":1.5,"memory_total_bytes":1000,"memory_used_bytes":600,"network_received_bytes":100,"tcp_retransmits":1,"temperature_celsius":50.0})"
      "\n"
      R"({"host":"a","rank":0,"time":1002.0,"seconds":3.0,"cpu_user":1.0,"cpu_system":0.5,"resident_bytes":8192,"threads":8,"voluntary_switches":5})"
      "\n"
      R"({"host":"a","rank":null,"time":1002.0,"seconds":3.0,"cores":2,"cpu_user":1.0,"cpu_system":0.5,"memory_used_bytes":700,"network_received_bytes":50,"tcp_retransmits":0})"
      "\n"
      R"({"host":"a","rank":null,"time":1003.0,"seconds":1.0,"cores":2,"cpu_user":2.0})"  // resumed
      "\n"
      "not JSON\n[1]\n{}\n");
}

}  // namespace trireme::watch
