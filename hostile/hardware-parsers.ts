// Evidence of hardware, as an attacker sends it who has a real one and wants the tier of another.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, encode } from 'cborg'
import { verifyKeyAttestation } from '#src/attest/hardware/android.ts'
import { enrollmentHash, verifyAppAttestation, verifyAppleAssertion } from '#src/attest/hardware/apple.ts'
import { readAssertedData, readAttestedData } from '#src/attest/hardware/authenticator-data.ts'
import { parseKeyDescription } from '#src/attest/hardware/key-description.ts'
import { parseRevocationList } from '#src/attest/hardware/revocations.ts'
import { readExpectedApps, readVendorRoots } from '#src/attest/hardware/roots.ts'
import { UNPROVEN } from '#src/attest/hardware/verdict.ts'
import { readCertificateExtensions } from '#src/platform/crypto/certificate-fields.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { mutateDer } from './mutate-der.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { SLOW } from './seeds.ts'

const file = JSON.parse(readFileSync(join(import.meta.dirname, 'hardware-seeds.json'), 'utf8'))
const der = (text: string) => Buffer.from(text, 'base64')
const CHAIN: Buffer[] = file.chain.map(der)
const OBJECTS: Buffer[] = file.objects.map(der)
const ASSERTIONS: Buffer[] = file.assertions.map(der)
const [SPKI, CHALLENGE, BUNDLE_HASH] = [der(file.spki), der(file.challenge), der(file.bundleHash)]
const ROOTS = readVendorRoots(file.roots.split(','))
const APPS = readExpectedApps(file.apps.split(','))
const AT = new Date(file.at)
const DESCRIPTION = readCertificateExtensions(CHAIN[0] ?? Buffer.alloc(0)).get('1.3.6.1.4.1.11129.2.1.17')?.value
const APPLE = {
  roots: ROOTS.apple,
  clientDataHash: enrollmentHash(SPKI, CHALLENGE),
  apps: APPS.apple,
  isDevelopmentAllowed: false,
  at: AT,
}
// One of each form of authenticator data, in the order of the seeds.
const ATTEST_KEYS = OBJECTS.map(
  (object) => verifyAppAttestation({ ...APPLE, object }).attestKey?.spki ?? Buffer.alloc(0),
)
const AUTHENTICATOR_DATA = [
  ...OBJECTS.map((object) => Buffer.from(decode(object).authData)),
  ...ASSERTIONS.map((assertion) => Buffer.from(decode(assertion).authenticatorData)),
]
const MAX_BYTES = 64 * 1024
const LIMIT = { kind: 'thread', ms: 250 } as const

export function hardwareParsers(): Parser[] {
  return [
    {
      name: 'android chain',
      source: 'src/attest/hardware/android.ts',
      limit: LIMIT,
      make: mutateChain,
      run(input) {
        const chain = unpack(input)
        const verdict = verifyKeyAttestation({
          chain,
          rootDigests: ROOTS.android,
          spki: SPKI,
          challenge: CHALLENGE,
          apps: APPS.android,
          revocations: 'off',
          at: AT,
        })
        if (verdict.tier === 'none') return verdict.reasons[0]?.code ?? 'no reason'
        hold(chain.length === CHAIN.length, 'no chain but the phone’s')
        hold(
          chain.every((one, index) => one.equals(CHAIN[index] ?? Buffer.alloc(0))),
          'and none that was changed',
        )
        return 'accepted'
      },
      refusals: UNPROVEN,
    },
    {
      name: 'key description',
      source: 'src/attest/hardware/key-description.ts',
      limit: LIMIT,
      make: (dice) => mutateDer([DESCRIPTION ?? Buffer.alloc(0)], dice),
      run(input) {
        try {
          parseKeyDescription(input)
          return 'accepted'
        } catch (error) {
          if (error instanceof RangeError) return 'range'
          throw error
        }
      },
      refusals: ['range'],
    },
    {
      name: 'app attest object',
      source: 'src/attest/hardware/apple.ts',
      limit: LIMIT,
      make: (dice) => (dice.once(4) ? slowObject(dice) : mutateBytes(OBJECTS, dice, MAX_BYTES)),
      run(input) {
        const verdict = verifyAppAttestation({ ...APPLE, object: input })
        if (verdict.tier === 'none') return verdict.reasons[0]?.code ?? 'no reason'
        hold(
          ATTEST_KEYS.some((key) => verdict.attestKey?.spki.equals(key)),
          'no key but those that were attested',
        )
        return 'accepted'
      },
      refusals: UNPROVEN,
    },
    {
      name: 'app attest assertion',
      source: 'src/attest/hardware/apple.ts',
      limit: LIMIT,
      make: (dice) => {
        const index = dice.below(ASSERTIONS.length)
        return Buffer.concat([Buffer.of(index), mutateBytes(ASSERTIONS.slice(index, index + 1), dice, MAX_BYTES)])
      },
      async run(input) {
        const verdict = await verifyAppleAssertion({
          assertion: input.subarray(1),
          spki: ATTEST_KEYS[input[0] ?? 0] ?? Buffer.alloc(0),
          appId: APPS.apple[0]?.appId ?? '',
          clientDataHash: BUNDLE_HASH,
          counterAbove: 0,
        })
        if (!verdict.isValid) return verdict.code
        hold(verdict.counter === 1, 'the counter is the one that was signed')
        return 'accepted'
      },
      refusals: ['malformed', 'wrong_app', 'bad_signature', 'counter_not_above'],
    },
    {
      name: 'authenticator data',
      source: 'src/attest/hardware/authenticator-data.ts',
      limit: LIMIT,
      make: (dice) => mutateBytes(AUTHENTICATOR_DATA, dice, MAX_BYTES),
      run(input) {
        const [attested, asserted] = [readAttestedData(input), readAssertedData(input)]
        if (attested !== undefined) hold(attested.credential.id.length <= 1_023, 'an id is bounded')
        const read = asserted ?? attested
        if (read === undefined) return 'malformed'
        hold(input.length <= 4 * 1_024, 'all that is accepted is short')
        return 'accepted'
      },
      refusals: ['malformed'],
    },
    {
      name: 'revocation list',
      source: 'src/attest/hardware/revocations.ts',
      limit: LIMIT,
      make: (dice) => mutateBytes([Buffer.from(LIST)], dice, MAX_BYTES),
      run(input) {
        let json: unknown
        try {
          json = JSON.parse(input.toString())
        } catch {
          return 'not json'
        }
        const parsed = parseRevocationList(json)
        if (!parsed.ok) return 'refused'
        for (const serial of parsed.entries.keys()) hold(/^[0-9a-f]{1,40}$/.test(serial), 'serials are numbers')
        return 'accepted'
      },
      refusals: ['not json', 'refused'],
    },
  ]
}

const LIST =
  '{"entries":{"2a":{"status":"REVOKED","reason":"KEY_COMPROMISE"},"00ff":{"status":"SUSPENDED"},"7":{"status":"REVOKED"}}}'

// One certificate changed in its structure or its bytes, or the chain itself: one missing, doubled, moved, or costly to
// verify.
function mutateChain(dice: Dice): Buffer {
  const chain = [...CHAIN]
  const index = dice.below(chain.length)
  const one = chain[index] ?? Buffer.alloc(0)
  const kind = dice.below(7)
  if (kind === 0) chain.splice(index, 1, ...(dice.once(2) ? [] : [one, one]))
  else if (kind === 1) chain.splice(dice.below(chain.length), 0, ...chain.splice(index, 1))
  else if (kind === 2) chain.splice(index, 1 + dice.below(3), ...SLOW.slice(0, 1 + dice.below(SLOW.length)))
  else chain[index] = dice.once(2) ? mutateDer([one], dice) : mutateBytes([one], dice, MAX_BYTES)
  return pack(chain)
}

/** The object with a costly key in the place of one of its certificates. */
function slowObject(dice: Dice): Buffer {
  const parts: { attStmt: { x5c: Uint8Array[] } } = decode(dice.pick(OBJECTS))
  parts.attStmt.x5c[dice.below(2)] = new Uint8Array(dice.once(2) ? dice.pick(SLOW) : mutateDer([dice.pick(SLOW)], dice))
  return Buffer.from(encode(parts))
}

function pack(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      return [length, part]
    }),
  )
}

function unpack(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    parts.push(bytes.subarray(at + 4, end))
    at = end
  }
  return parts
}
