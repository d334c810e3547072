package records

// exchangeDictionary is the preset dictionary of deflated exchanges: what heads of responses often hold, the most
// frequent last. It is a part of the format: records with another one need another exchangeFormat.
const exchangeDictionary = "TLS 1.2 ECDHE-TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256\nTLS 1.2 TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384\n" +
	"TLS 1.3 TLS_CHACHA20_POLY1305_SHA256\nTLS 1.3 TLS_AES_256_GCM_SHA384\nTLS 1.3 TLS_AES_128_GCM_SHA256\n" +
	"301 150 http://www. https://data. .org/dataset/ /resource/ /download/ .gv.at/ /api/ .csv " +
	".json .xml .zip .xlsx\n302 \n307 \n200 0 \n\n" +
	"HTTP/1.1 206 Partial Content\r\nHTTP/1.0 200 OK\r\nX-Powered-By: ASP.NET\r\nX-AspNet-Version: 4.0.30319\r\nX-Powered-By: " +
	"PHP/7.4.33\r\n" +
	"Server: Microsoft-IIS/10.0\r\nServer: openresty\r\nServer: AmazonS3\r\nServer: gunicorn\r\nServer: Apache-Coyote/1.1\r\nServer: " +
	"Caddy\r\nserver: LiteSpeed\r\n" +
	"x-amz-id-2: \r\nx-amz-request-id: \r\nx-amz-version-id: \r\nx-amz-server-side-encryption: AES256\r\nx-amz-storage-class: " +
	"x-ms-request-id: \r\nx-ms-version: 2009-09-19\r\n" +
	"x-ms-lease-status: unlocked\r\nx-ms-blob-type: BlockBlob\r\nx-goog-generation: \r\nx-goog-hash: " +
	"crc32c=\r\nx-goog-stored-content-length: \r\n" +
	"X-Amz-Cf-Pop: FRA56-P3\r\nX-Amz-Cf-Id: \r\nVia: 1.1 varnish\r\nVia: 1.1 google\r\nVia: 1.1 .cloudfront.net (CloudFront)\r\nX-Cache: " +
	"Miss from cloudfront\r\nX-Cache: HIT\r\nX-Cache-Hits: 0\r\nX-Served-By: cache-\r\nX-Timer: S\r\n" +
	"NEL: {\"success_fraction\":0,\"report_to\":\"cf-nel\",\"max_age\":604800}\r\nReport-To: " +
	"{\"endpoints\":[{\"url\":\"https://a.nel.cloudflare.com/report/v4?s=\"}],\"group\":\"cf-nel\",\"max_age\":604800}\r\n" +
	"cf-cache-status: DYNAMIC\r\nCF-Cache-Status: HIT\r\nCF-RAY: -FRA\r\nalt-svc: h3=\":443\"; ma=86400\r\nServer: cloudflare\r\n" +
	"Access-Control-Allow-Headers: Content-Type, Authorization, X-Requested-With\r\nAccess-Control-Allow-Methods: GET, POST, PUT, " +
	"DELETE, OPTIONS\r\nAccess-Control-Allow-Credentials: true\r\nAccess-Control-Expose-Headers: \r\n" +
	"Content-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\nPermissions-Policy: interest-cohort=()\r\nReferrer-Policy: " +
	"strict-origin-when-cross-origin\r\nX-XSS-Protection: 1; mode=block\r\n" +
	"X-Frame-Options: SAMEORIGIN\r\nX-Frame-Options: DENY\r\nX-Content-Type-Options: nosniff\r\nStrict-Transport-Security: " +
	"max-age=31536000; includeSubDomains; preload\r\nStrict-Transport-Security: max-age=63072000; includeSubDomains\r\n" +
	"Set-Cookie: JSESSIONID=; Path=/; Secure; HttpOnly; SameSite=Lax\r\nSet-Cookie: PHPSESSID=; path=/; expires=; " +
	"domain=\r\nX-Request-Id: \r\nX-Runtime: 0.0\r\nX-Cacheable: YES\r\nMIME-Version: 1.0\r\nX-Robots-Tag: noindex\r\nAge: 0\r\n" +
	"Pragma: no-cache\r\nExpires: Thu, 19 Nov 1981 08:52:00 GMT\r\nExpires: 0\r\nCache-Control: no-store, no-cache, " +
	"must-revalidate\r\nCache-Control: private\r\nCache-Control: max-age=0, must-revalidate, private\r\nCache-Control: public, " +
	"max-age=3600\r\n" +
	"Content-Disposition: inline; filename=\r\nContent-Disposition: attachment; filename=\".xlsx\"\r\nContent-Disposition: attachment; " +
	"filename=\".csv\"\r\nContent-Language: en\r\n" +
	"Content-Type: application/rdf+xml\r\nContent-Type: text/turtle\r\nContent-Type: application/pdf\r\nContent-Type: " +
	"image/jpeg\r\nContent-Type: image/png\r\nContent-Type: " +
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet\r\nContent-Type: application/vnd.ms-excel\r\n" +
	"Content-Type: application/zip\r\nContent-Type: application/octet-stream\r\nContent-Type: application/xml\r\nContent-Type: " +
	"application/json; charset=utf-8\r\nContent-Type: application/json\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Type: " +
	"text/html; charset=iso-8859-1\r\nContent-Type: text/html; charset=UTF-8\r\nContent-Type: text/csv; charset=utf-8\r\nContent-Type: " +
	"text/csv\r\n" +
	"date: content-type: content-length: server: last-modified: etag: accept-ranges: vary: cache-control: " +
	"Vary: Accept-Encoding,User-Agent\r\nVary: Origin\r\nVary: Accept-Encoding\r\nContent-Encoding: gzip\r\nTransfer-Encoding: " +
	"chunked\r\nKeep-Alive: timeout=5, max=100\r\nKeep-Alive: timeout=60\r\nConnection: close\r\nConnection: Keep-Alive\r\nConnection: " +
	"keep-alive\r\n" +
	"Access-Control-Allow-Origin: *\r\nHTTP/1.1 200 OK\r\nServer: nginx/1.18.0 (Ubuntu)\r\nServer: nginx\r\nHTTP/1.1 200 OK\r\nServer: " +
	"Apache/2.4.41 (Ubuntu)\r\nServer: Apache/2.4.57 (Debian)\r\nServer: Apache\r\n" +
	" Jan 2022 Feb 2023 Mar 2024 Apr 2025 May 2026 Jun Jul Aug Sep Oct Nov Dec Sat, Fri, Thu, Wed, Tue, Mon, Sun, " +
	"200 0 \n\nHTTP/1.1 200 OK\r\nDate: Mon, 23 Nov 2026 10:00:00 GMT\r\nServer: Apache\r\nContent-Type: text/csv\r\nContent-Length: " +
	"10\r\nConnection: keep-alive\r\nLast-Modified: Tue, 15 Sep 2026 12:00:00 GMT\r\nETag: W/\"\r\nAccept-Ranges: bytes\r\n\r\n"
