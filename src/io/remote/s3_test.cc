#include "io/remote/s3.h"

#include <doctest/doctest.h>

#include <map>

#include "base/sha256.h"

using namespace sonde;

TEST_CASE("S3: the signature of the example in AWS's documentation") {
  const std::string empty = sha256_hex("");
  const io::S3Request request{
      "GET",
      "examplebucket.s3.amazonaws.com",
      "/test.txt",
      {},
      {{"range", "bytes=0-9"}, {"x-amz-content-sha256", empty}, {"x-amz-date", "20130524T000000Z"}},
      empty};
  const io::S3Credentials keys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                               ""};
  CHECK(io::s3_authorization(request, keys, "us-east-1", "s3", "20130524T000000Z") ==
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  CHECK(io::canonical_query({{"prefix", "a b/ü"}, {"list-type", "2"}}) ==
        "list-type=2&prefix=a%20b%2F%C3%BC");
}

TEST_CASE("S3: keys, region and endpoint from where AWS's tools look") {
  std::map<std::string, std::string> variables = {{"HOME", "/h"}};
  std::map<std::string, std::string> files = {
      {"/h/.aws/credentials",
       "[default]\naws_access_key_id = A\naws_secret_access_key=B\n[lab]\naws_access_key_id=C\n"},
      {"/h/.aws/config",
       "[default]\nregion = eu-west-1\n[profile lab]\nregion=x\nendpoint_url = http://lab:9/\ns3 "
       "=\n  addressing_style = virtual\n"}};
  const auto read = [&] {
    const auto find = [](const auto& in, const std::string& name) -> std::optional<std::string> {
      const auto found = in.find(name);
      return found == in.end() ? std::nullopt : std::optional(found->second);
    };
    return io::read_s3_config([&](const char* name) { return find(variables, name); },
                              [&](const std::string& path) { return find(files, path); });
  };
  CHECK(read().credentials.access_key == "A");
  CHECK(read().credentials.secret_key == "B");
  CHECK(read().region == "eu-west-1");
  CHECK(read().endpoint.empty());
  variables["AWS_PROFILE"] = "lab";
  CHECK(read().credentials.access_key == "C");
  CHECK(read().endpoint == "http://lab:9");
  CHECK(io::s3_address(read(), "bucket").host == "bucket.lab:9");
  variables["AWS_ACCESS_KEY_ID"] = "E";  // without its secret: not mixed with the file's
  CHECK(read().credentials.secret_key.empty());
  variables["AWS_REGION"] = "r";
  CHECK(read().region == "r");
  files.clear();
  variables.clear();
  CHECK(read().credentials.is_anonymous());
}

TEST_CASE("S3: a bucket's address, by host and by path") {
  io::S3Config config;
  CHECK(io::s3_address(config, "logs").host == "logs.s3.us-east-1.amazonaws.com");
  CHECK(io::s3_address(config, "logs").path.empty());
  CHECK(io::s3_address(config, "lo.gs").path == "/lo.gs");  // no certificate fits such a host
  config.endpoint = "http://127.0.0.1:9000";
  const io::S3Address own = io::s3_address(config, "logs");
  CHECK(own.scheme == "http");
  CHECK(own.host == "127.0.0.1:9000");
  CHECK(own.path == "/logs");
}

TEST_CASE("S3: a page of a listing, and pages that are none") {
  const auto page = io::parse_s3_page(
      "<?xml version=\"1.0\"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true"
      "</IsTruncated><NextContinuationToken>n&amp;1</NextContinuationToken><Contents><Key>a%20b%2Bc"
      "</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>7"
      "</Size></Contents><Contents><Key>d</Key><Size>0</Size></Contents></ListBucketResult>");
  REQUIRE(page);
  REQUIRE(page->objects.size() == 2);
  CHECK(page->objects[0].key == "a b+c");
  CHECK(page->objects[0].etag == "\"e\"");
  CHECK(page->objects[0].size == 7);
  CHECK(page->objects[0].modified_s == 1255369830);
  CHECK(page->next == "n&1");
  CHECK(io::parse_s3_time("Mon, 12 Oct 2009 17:50:30 GMT") == 1255369830);
  CHECK(!io::parse_s3_page("<html>hello"));
  CHECK(!io::parse_s3_page("<ListBucketResult><Contents><Key>a</Key></Contents>"));
  CHECK(!io::parse_s3_page(
      "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>"));
}
