// Parsers of short texts: headers, ids, cursors, keys, URLs, query strings. They run on the thread that serves all
// requests.

import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { parseKey } from '#src/account/keys/format.ts'
import { signDelivery, verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import { decodeStrictBase64 } from '#src/attest/trust/certificates.ts'
import { Failure } from '#src/failure.ts'
import { readKey } from '#src/platform/http/caller.ts'
import { parseIdempotencyKey } from '#src/platform/http/idempotency.ts'
import { createPager, listQuery } from '#src/platform/http/page.ts'
import { parsePrefer } from '#src/platform/http/prefer.ts'
import { chooseCoding, represent } from '#src/platform/http/represent.ts'
import { parseByteRange, parseContentDigest } from '#src/platform/http/request-headers.ts'
import { parseQuery } from '#src/platform/http/validate.ts'
import { checkId, newId } from '#src/platform/ids.ts'
import { parseTarget } from '#src/platform/net/url.ts'
import { mutateText } from './mutate-text.ts'
import { hold, type Parser } from './parser.ts'
import { CHAIN } from './seeds.ts'

// The longest header that the server accepts is 16 KiB: the time of a case is a small part of a request.
const LIMIT = { kind: 'thread', ms: 100 } as const

function parser(
  described: Pick<Parser, 'name' | 'source' | 'refusals'>,
  seeds: readonly string[],
  run: (text: string) => string | Promise<string>,
): Parser {
  return {
    ...described,
    limit: LIMIT,
    make: (dice) => Buffer.from(mutateText(seeds, dice), 'utf16le'),
    run: (input) => run(input.toString('utf16le')),
  }
}

const MEDIA_ID = newId('med', 'sandbox', 1_780_000_000_000)
const SCOPE = { accountId: 'acc_1', environment: 'sandbox' } as const
const pager = createPager({ key: Buffer.alloc(32, 7) })
const binding = { route: 'GET /v1/claims', scope: SCOPE, query: { reference: 'A' } }
const CURSOR = pager.page(['clm_2', 'clm_1'], 1, (id) => id, binding).next_cursor ?? ''
const DIGEST = `sha-256=:${Buffer.alloc(32, 9).toString('base64')}:`
const KEY = 'svc_test_0123456789abcdefghijABCDEF012345'
const ETAG = 'W/"abc"'

const SECRET = `whsec_${'A+/z'.repeat(11)}`
const DELIVERY = Buffer.from('{"id":"evt_1"}')
const NOW = 1_780_000_000
const SIGNED =
  signDelivery({ rawBody: DELIVERY, eventId: 'evt_1', secrets: [SECRET], nowSeconds: NOW })['service-signature'] ?? ''

export const TEXT_PARSERS: readonly Parser[] = [
  parser(
    { name: 'id', source: 'platform/ids', refusals: ['not_found', 'environment_mismatch'] },
    [MEDIA_ID, newId('dev', 'live', 1)],
    (text) =>
      refusalOf(() => {
        checkId(text, 'med', 'sandbox')
        hold(/^med_test_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text), 'an accepted id has the form of one')
      }),
  ),
  parser({ name: 'cursor', source: 'platform/http/page', refusals: ['invalid_request'] }, [CURSOR], (text) =>
    refusalOf(() => {
      pager.decode(text, binding)
      hold(text === CURSOR, 'only the service can make a cursor')
    }),
  ),
  parser(
    { name: 'base64', source: 'attest/devices/enrollment', refusals: ['invalid'] },
    [CHAIN[0]?.toString('base64') ?? '', 'YQ==', 'YWI='],
    (text) => {
      const bytes = decodeStrictBase64(text)
      if (bytes === undefined) return 'invalid'
      hold(bytes.toString('base64') === text, 'bytes have one spelling')
      return 'accepted'
    },
  ),
  parser({ name: 'API key', source: 'account/keys/format', refusals: ['invalid'] }, [KEY], (text) => {
    const parts = parseKey(text)
    if (parts === undefined) return 'invalid'
    hold(text.length === 41 && parts.prefix.length === 8, 'a key has 41 characters')
    return 'accepted'
  }),
  parser(
    {
      name: 'Authorization, X-API-Key',
      source: 'platform/http/caller',
      refusals: ['authentication_required', 'invalid_request', 'invalid_api_key'],
    },
    [`Bearer ${KEY}`, `bearer  ${KEY}`, 'Basic YTpi'],
    (text) =>
      refusalOf(() => {
        const [first = '', ...rest] = text.split('|')
        const key = readKey({
          headersDistinct: { authorization: [first], ...(rest.length > 0 ? { 'x-api-key': rest } : {}) },
        })
        hold(key.length > 0 && key.length <= 256, 'what is looked up is short')
      }),
  ),
  parser(
    { name: 'Idempotency-Key', source: 'platform/http/idempotency', refusals: ['invalid_value'] },
    ['a7c8e0f2-2f1c-4a57-9d5e-0c9f6f0e1b2a', 'A'.repeat(255)],
    (text) => {
      const parsed = parseIdempotencyKey(text)
      if (!parsed.ok) return parsed.errors[0]?.code ?? ''
      hold(/^[!-~]{1,255}$/.test(text), 'an accepted key is visible ASCII')
      return 'accepted'
    },
  ),
  parser(
    { name: 'Prefer', source: 'platform/http/prefer', refusals: [] },
    ['wait=5', 'respond-async, wait="10"; foo="a\\"b"', 'a=b,wait=30'],
    (text) => {
      const { waitSeconds, applied } = parsePrefer(text)
      hold(Number.isInteger(waitSeconds) && waitSeconds >= 0 && waitSeconds <= 30, 'no wait is longer than 30 s')
      hold(applied === undefined || /^wait=\d{1,2}$/.test(applied), 'what goes back is ours')
      return 'accepted'
    },
  ),
  parser(
    { name: 'Range', source: 'attest/media/request-headers', refusals: ['unsatisfiable', 'whole'] },
    ['bytes=0-99', 'bytes=-500', 'bytes=500-', 'bytes=0-1,4-5'],
    (text) => {
      const size = 1_000
      const range = parseByteRange(text, size)
      if (range.kind !== 'part') return range.kind
      const { first, last } = range
      hold(first >= 0 && first <= last && last < size, 'a part lies within')
      return 'accepted'
    },
  ),
  parser(
    { name: 'Content-Digest', source: 'attest/media/request-headers', refusals: ['invalid_request'] },
    [DIGEST, `sha-512=:AA==:, ${DIGEST}`],
    (text) => refusalOf(() => hold(/^[0-9a-f]{64}$/.test(parseContentDigest(text)), 'a digest has 32 bytes')),
  ),
  parser(
    { name: 'Accept-Encoding', source: 'platform/http/represent', refusals: [] },
    ['gzip, br;q=0.5', '*;q=0, identity', 'x-gzip;q=1.0'],
    (text) => {
      hold([undefined, 'br', 'gzip'].includes(chooseCoding(text)), 'a coding that there is')
      return 'accepted'
    },
  ),
  parser(
    { name: 'If-None-Match', source: 'platform/http/represent', refusals: ['changed'] },
    [ETAG, `"x", ${ETAG}`, '*'],
    async (text) => {
      const answer = { status: 200, headers: { ETag: ETAG, 'Content-Type': 'text/plain' }, text: 'abc' }
      const req = { method: 'GET', headers: { 'if-none-match': text } } as Parameters<typeof represent>[0]
      const { status } = await represent(req, answer)
      hold(status === 304 || status === 200, 'the whole, or nothing new')
      return status === 304 ? 'accepted' : 'changed'
    },
  ),
  parser(
    { name: 'query string', source: 'platform/http/validate', refusals: ['refused'] },
    [
      `limit=20&cursor=${CURSOR}`,
      'created_gte=2026-01-01T00%3A00%3A00Z&include=total_count',
      'reference=a+b&limit=100',
    ],
    (text) => {
      const parsed = parseQuery(QUERY, text)
      if (parsed.ok) return 'accepted'
      hold(parsed.errors.length > 0 && parsed.errors.length <= 100, 'findings are bounded')
      hold(
        parsed.errors.every(({ pointer }) => pointer.startsWith('?') && pointer.length <= 510),
        'pointers are bounded',
      )
      return 'refused'
    },
  ),
  parser(
    {
      name: 'webhook URL',
      source: 'platform/net/url',
      refusals: [
        'too_long',
        'not_a_url',
        'scheme_not_allowed',
        'userinfo_not_allowed',
        'fragment_not_allowed',
        'host_not_allowed',
        'port_not_allowed',
        'address_not_public',
      ],
    },
    [
      'https://example.com/hook?a=1',
      'https://93.184.216.34:8443/',
      'http://[2606:4700::1111]/',
      'https://10.0.0.1/',
      'http://0x7f000001/',
    ],
    judgeUrl,
  ),
  parser(
    {
      name: 'Service-Signature',
      source: 'account/webhooks/signature',
      refusals: [
        'missing_header',
        'malformed_header',
        'no_v1_signature',
        'timestamp_out_of_tolerance',
        'signature_mismatch',
      ],
    },
    [SIGNED, `${SIGNED},v1=${'0'.repeat(64)}`],
    (text) => {
      const verdict = verifyWebhookSignature(
        { rawBody: DELIVERY, headers: { 'Service-Signature': text } },
        [SECRET],
        NOW,
      )
      if (!verdict.valid) return verdict.reason
      hold(
        SIGNED.split(',').every((part) => text.split(',').includes(part)),
        'only our signature is valid',
      )
      return 'accepted'
    },
  ),
]

const QUERY = z.object({ ...listQuery, reference: z.string().max(255).optional() }).strict()

// Another implementation than the one under test.
const private4 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  private4.addSubnet(network, prefix, 'ipv4')
}
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

function judgeUrl(text: string): string {
  const parsed = parseTarget(text, { environment: 'sandbox' })
  if (!parsed.ok) return parsed.code
  const { hostname, origin, path, port } = parsed.target
  const url = new URL(text)
  hold(url.origin === origin && url.pathname + url.search === path, 'it is read as everybody reads it')
  hold(url.username === '' && url.hash === '', 'neither user nor fragment')
  hold(port === 80 || port === 443 || port > 1_024, 'no port of other services')
  hold(!/^(?:.*\.)?localhost\.?$/i.test(hostname), 'not this machine')
  hold(!/[\0-\x20\x7f]/.test(origin + path), 'nothing that splits a request')
  const family = isIP(hostname)
  if (family === 4) hold(!private4.check(hostname, 'ipv4'), `${hostname} is public`)
  if (family === 6)
    hold(global6.check(hostname, 'ipv6') || /^(?:::ffff:|64:ff9b::)/.test(hostname), `${hostname} is public`)
  return 'accepted'
}

/** @returns `accepted` when `work` returns, or the failure's code. */
export function refusalOf(work: () => unknown): string {
  try {
    work()
    return 'accepted'
  } catch (error) {
    if (error instanceof Failure) return error.code
    throw error
  }
}
