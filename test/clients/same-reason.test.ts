// The same token has the same reason in all four verifiers: of TypeScript, of Python (twice) and of Go.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { verifyIntentTokenOffline } from '../../clients/typescript/src/verify.ts'
import { CLAIMS, encode, HEADER, KEY_SET, KEYS, makeToken, NOW } from '../../tools/vectors/made/token-parts.ts'
import { GO_VERIFIER, go, missingGo } from '../support/go.ts'
import { anyPython, environment, PACKAGE, VERIFIER } from '../support/python.ts'

interface Case {
  token: string
  environment: 'sandbox' | 'live'
  audience?: string
}

interface Answer {
  reason: string
  problem: string
  not_checked: string[]
  requires_online: boolean
}

const NUMBERS = ['0', '-0', '1.0', '1e3', '1.5', '-1', '1e21', '1e400', '1e-400', '9007199254740993', '01', '1.', 'NaN']
const VALUES = [
  ...NUMBERS,
  'null',
  'true',
  '""',
  '"x"',
  '[]',
  '{}',
  '[[[[[[[[]]]]]]]]',
  '"\\ud800"',
  '"\\ud83d\\ude00"',
  '"\\u00e9"',
]
const PIECES = [
  '',
  '"',
  '\\',
  ',',
  '}',
  '{',
  ' ',
  '\n',
  '\0',
  '\u00a0',
  '\ufeff',
  'é',
  '\u{1f600}',
  '.',
  '=',
  '-',
  '_',
  '+',
]

const inserted = (text: string, at: number, cut: number, put: string) => {
  const place = at % (text.length + 1)
  return `${text.slice(0, place)}${put}${text.slice(place + cut)}`
}
const edit = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 2 }), fc.constantFrom(...PIECES))
const claim = fc.constantFrom(
  ...Object.keys(CLAIMS),
  ...['nbf', 'context_hash', 'trace_id', 'reading_hash', 'agent_id', 'mandate_id', 'schedule_id', 'cycle'],
  ...['biometric', 'approval_id', 'single_use', 'later', '__proto__', 'constructor', 'toString'],
)
const value = fc.oneof(
  fc.constantFrom(...VALUES),
  fc.json({ maxDepth: 2 }),
  fc.constantFrom(...Object.values(CLAIMS)).map((one) => JSON.stringify(one)),
)

// A member is replaced, or stands there twice.
const payload = fc.tuple(claim, value, fc.boolean()).map(([name, text, isTwice]) => {
  const others = Object.entries(CLAIMS).filter(([other]) => isTwice || other !== name)
  const members = [
    ...others.map(([other, one]) => `${JSON.stringify(other)}:${JSON.stringify(one)}`),
    `"${name}":${text}`,
  ]
  return `{${members.join(',')}}`
})
const time = fc.integer({ min: -70, max: 70 }).map((seconds) => NOW + seconds)
const sound = fc.record(
  {
    iat: time,
    exp: time,
    nbf: time,
    context_hash: fc.constant(CLAIMS.payload_hash),
    reading_hash: fc.constant(CLAIMS.payload_hash),
    approval_id: fc.constant('apr_live_1'),
    mandate_id: fc.constant('mnd_live_1'),
    schedule_id: fc.constant('sch_live_1'),
    single_use: fc.boolean(),
    env: fc.constant('sandbox'),
  },
  { requiredKeys: [] },
)
const header = fc
  .tuple(fc.constantFrom('alg', 'typ', 'kid', 'crit', 'b64'), value)
  .map(
    ([name, text]) =>
      `{${Object.entries({ ...HEADER, [name]: 0 }).map(([member, one]) => `"${member}":${member === name ? text : JSON.stringify(one)}`)}}`,
  )
const changed = (texts: fc.Arbitrary<string>) =>
  fc.tuple(texts, edit).map(([text, [at, cut, put]]) => inserted(text, at, cut, put))

// Signed as they are, so that the checks behind the signature are reached; or changed after they were signed.
const signed = fc.oneof(
  sound.map((claims) =>
    makeToken({
      payload: { ...CLAIMS, ...claims },
      key: claims.env ? KEYS.sandbox : KEYS.live,
      header: { ...HEADER, kid: (claims.env ? KEYS.sandbox : KEYS.live).kid },
    }),
  ),
  payload.map((text) => makeToken({ payload: text })),
  changed(fc.constant(JSON.stringify(CLAIMS))).map((text) => makeToken({ payload: text })),
  fc.tuple(fc.nat(), fc.constantFrom(0x80, 0xc0, 0xff)).map(([at, byte]) => {
    const bytes = Buffer.from(JSON.stringify(CLAIMS))
    bytes[at % bytes.length] = byte
    return makeToken({ payload: bytes })
  }),
  header.map((text) => makeToken({ header: text })),
  changed(fc.constant(JSON.stringify(HEADER))).map((text) => makeToken({ header: text })),
  fc.constantFrom(...Object.values(KEYS)).map((key) => makeToken({ key, header: { ...HEADER, kid: key.kid } })),
)
const mangled = fc.oneof(
  changed(signed),
  fc
    .array(fc.oneof(fc.string(), header.map(encode), payload.map(encode)), { maxLength: 5 })
    .map((parts) => parts.join('.')),
  fc
    .tuple(
      fc.constantFrom('A', '.', 'é', '\u{1f600}'),
      fc.constantFrom(511, 8_192, 8_193, 16_384, 16_385),
      fc.boolean(),
    )
    .map(([character, count, isHeader]) => `${character.repeat(count)}${isHeader ? '.e30.AA' : ''}`),
)
const tokens = fc.record<Case>(
  {
    token: fc.oneof(signed, mangled),
    environment: fc.constantFrom('live', 'sandbox'),
    audience: fc.constantFrom(CLAIMS.aud, 'https://bank.example.com'),
  },
  { requiredKeys: ['token', 'environment'] },
)

const cases = fc.sample(tokens, { numRuns: 800, seed: 20_261_129 })
const input = JSON.stringify({ jwks: { keys: KEY_SET }, now: NOW, cases })
const keys = { keys: KEY_SET as never }
const expected = await Promise.all(
  cases.map(async (one): Promise<Answer> => {
    const verdict = await verifyIntentTokenOffline(one.token, { ...one, keys, now: () => new Date(NOW * 1_000) })
    return {
      reason: verdict.reason ?? '',
      problem: verdict.problem ?? '',
      not_checked: verdict.notChecked,
      requires_online: verdict.requiresOnline,
    }
  }),
)

it('the tokens reach each check', () => {
  const problems = new Set(expected.map(({ problem }) => problem))
  for (const problem of [
    '',
    'too_long',
    'segments',
    'encoding',
    'header',
    'algorithm',
    'type',
    'unknown_key',
    'signature',
    'payload',
    'claims',
    'environment',
    'audience',
    'not_yet_valid',
    'expired',
  ])
    expect(problems).toContain(problem)
})

const python = anyPython()
it.skipIf(python === undefined && !process.env.CI).each([
  ['countersign_verifier', VERIFIER],
  ['countersign', PACKAGE],
])('%s of Python has the same reason for each', async (name, folder) => {
  const env = environment({ PYTHONPATH: join(folder, 'src') })
  compare(await answersOf(python ?? 'python3', [join(VERIFIER, 'tests/answers.py'), name], { env }))
})

if (go === undefined) missingGo('the installed Go')
else {
  it('the verifier of Go has the same reason for each', async () => {
    compare(await answersOf('go', ['run', './internal/answers'], { cwd: GO_VERIFIER, env: go?.env ?? {} }))
  }, 280_000)
}

function compare(answers: Answer[]): void {
  const different = cases.flatMap((one, at) =>
    JSON.stringify(answers[at]) === JSON.stringify(expected[at])
      ? []
      : [{ ...one, answered: answers[at], expected: expected[at] }],
  )
  expect(different).toEqual([])
  expect(answers).toHaveLength(cases.length)
}

function answersOf(
  command: string,
  words: string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
): Promise<Answer[]> {
  return new Promise((done, fail) => {
    const child = execFile(command, words, { ...options, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      if (error) fail(error)
      else done(JSON.parse(stdout) as Answer[])
    })
    child.stdin?.end(input)
  })
}
