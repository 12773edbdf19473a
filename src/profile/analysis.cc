#include "profile/analysis.h"

namespace sonde::profile {

HostAnalysis::HostAnalysis(const trace::Host& host, size_t index) : host_(host), index_(index) {}
HostAnalysis::~HostAnalysis() = default;

Session::Session(trace::Session loaded)
    : loaded_(std::move(loaded)), analysis_(std::make_unique<Analysis>()) {
  // The hosts vector is heap memory and never changes: references to its elements survive a move
  // of the session.
  for (size_t i = 0; i < loaded_.hosts.size(); ++i)
    analysis_->hosts.push_back(std::make_unique<HostAnalysis>(loaded_.hosts[i], i));
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

std::vector<const HostAnalysis*> chosen_hosts(const Session& session, const Options& options) {
  std::vector<const HostAnalysis*> chosen;
  for (const auto& host : session.analysis().hosts) {
    if (options.host.empty() || options.host == "ALL_HOSTS" || host->host().name == options.host)
      chosen.push_back(host.get());
  }
  return chosen;
}

}  // namespace sonde::profile
