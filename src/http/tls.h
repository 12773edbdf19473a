// TLS from a certificate and key in PEM files: version 1.2 and newer.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/result.h"

namespace sonde::http {

Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const std::string& certfile,
                                                            const std::string& keyfile);

}  // namespace sonde::http
