#include "http/tls.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

namespace sonde::http {

namespace ssl = boost::asio::ssl;

Result<std::unique_ptr<ssl::context>> make_tls(const std::string& certfile,
                                               const std::string& keyfile) {
  auto tls = std::make_unique<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  tls->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                       ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 |
                       ssl::context::single_dh_use,
                   error);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  // An idle connection gives its buffers back: thousands may be open.
  SSL_CTX_set_mode(tls->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  tls->use_certificate_chain_file(certfile, error);
  if (error) {
    return fail(Code::kInvalid,
                fmt::format("--certfile {} cannot be used: {}", certfile, error.message()));
  }
  tls->use_private_key_file(keyfile, ssl::context::pem, error);
  if (error) {
    return fail(Code::kInvalid,
                fmt::format("--keyfile {} cannot be used: {}", keyfile, error.message()));
  }
  if (SSL_CTX_check_private_key(tls->native_handle()) != 1) {
    return fail(Code::kInvalid,
                fmt::format("--keyfile {} does not belong to --certfile {}", keyfile, certfile));
  }
  return tls;
}

}  // namespace sonde::http
