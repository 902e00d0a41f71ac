// Packets of photos: honest ones, and files that are none.

import type { EvidencePacket } from '#src/attest/evidence/views.ts'
import { RESULTS, STATEMENTS } from './attestation-packets.ts'
import {
  AUTHORITY_CERTIFICATE,
  DEVICE_CERTIFICATE,
  FORGED_CERTIFICATE,
  OTHER_DEVICE_KEY,
  spkiOf,
} from './certificates.ts'
import { DEVICE_SIGNATURES } from './device-signature-packets.ts'
import {
  changed,
  earlyPacket,
  failed,
  NO_CERTIFICATES,
  noResult,
  PART,
  PLAIN_PHOTO,
  plainPhoto,
  REVOKED,
  SECOND,
  scored,
  signedAfter,
  two,
  UNMARKED,
  withCertificates,
  withEarlier,
  withOne,
  withParts,
} from './packet-edits.ts'
import { EARLY, hexDigest, makeAttestation, makePacket, signPacket } from './packet-parts.ts'
import type { PacketCase } from './packets.ts'
import { RECORD_KEYS, REVOCATION } from './records.ts'
import { CHANGED, SIGNATURES } from './signature-packets.ts'

const HONEST: PacketCase[] = [
  [
    'attested-unverified',
    'the provenance of the claim is the worst of its attestations, one step below verified',
    {
      packet: signPacket(
        makePacket([
          makeAttestation({ result: { provenance_status: 'attested_unverified' } }),
          makeAttestation({ id: SECOND }),
        ]),
      ),
    },
  ],
  [
    'statement-null',
    'a photo whose statement is null',
    withOne((one) => {
      plainPhoto(one)
      one.submission.bundle = null
    }, PLAIN_PHOTO),
    [NO_CERTIFICATES],
  ],
  [
    'enrolled-device-second',
    'the key is that of the second device of the packet',
    signedAfter((packet) => {
      const [one] = packet.attestations
      Object.assign(one ?? {}, { certificates: { ...one?.certificates, source: 'device' } })
      const other = {
        device_id: 'dev_test_01m812n8ggfzkbv1fwd60zgppg',
        spki: spkiOf(OTHER_DEVICE_KEY).toString('base64'),
      }
      packet.devices.unshift({ ...packet.devices[0], ...other } as never)
    }),
  ],
  [
    'enrolled-device-missing',
    'the key is that of a device that the packet does not hold: there is nothing to compare it with',
    signedAfter((packet) => {
      const [one] = packet.attestations
      Object.assign(one ?? {}, { certificates: { ...one?.certificates, source: 'device' } })
      packet.devices.pop()
    }),
  ],
  [
    'revocation-of-other-kid',
    'the packet names a revocation of a key of another id: it says nothing against the given one',
    {
      ...signedAfter(
        (packet) => packet.keys.push({ ...RECORD_KEYS.revoked.jwk, kid: 'other', revoked: REVOCATION } as never),
        makePacket([makeAttestation({ signed: REVOKED })]),
      ),
      jwks: UNMARKED,
    },
    [['keys', 'whose they are', 'skipped']],
  ],
  ['whole', 'the packet is as the service signed it', { packet: signPacket(makePacket()) }],
  [
    'members-reordered',
    'the order of members is not part of a packet',
    changed((signed) => {
      signed.packet = Object.fromEntries(Object.entries(signed.packet).toReversed()) as EvidencePacket
    }),
  ],
  [
    'no-originals',
    'the original was not given',
    { packet: signPacket(makePacket()), originals: null },
    [[PART, 'original', 'skipped']],
  ],
  [
    'no-keys',
    'without keys of the service the packet vouches for its own',
    { packet: signPacket(makePacket()), jwks: null },
    [['keys', 'whose they are', 'unproven']],
  ],
  ['two', 'two attestations', { packet: signPacket(two()) }],
  [
    'signature-found-invalid',
    'the result says that the signature of the device is invalid, and it is',
    withParts({
      key: OTHER_DEVICE_KEY,
      result: scored('signature_invalid', 70, 'broken'),
    }),
  ],
  [
    'authority-unknown',
    'the result says that the certificates lead to no known authority: they are not compared',
    withOne((one) => Object.assign(one.certificates, { chain: [FORGED_CERTIFICATE, AUTHORITY_CERTIFICATE] }), {
      result: scored('cert_unknown_ca', 40),
    }),
    [[PART, 'certificate chain', 'skipped']],
  ],
  [
    'one-certificate',
    'the certificate of the device alone: its issuer is not there',
    withCertificates(DEVICE_CERTIFICATE),
  ],
  [
    'key-of-enrolment',
    'no certificates were sent, and the key is that of the enrolled device',
    withOne((one) =>
      Object.assign(one, {
        certificates: { ...one.certificates, source: 'device' },
        key: { ...one.key, source: 'device' },
      }),
    ),
  ],
  ['queued', 'an attestation is queued: it has no result yet', withOne(noResult), [[PART, 'result', 'skipped']]],
  [
    'no-statement',
    'a photo without a statement of a device',
    withOne((one) => plainPhoto(one), PLAIN_PHOTO),
    [NO_CERTIFICATES],
  ],
  [
    'incomplete',
    'the packet does not hold all attestations of the claim',
    signedAfter((packet) => Object.assign(packet.about.attestations, { total: 2, is_complete: false })),
    [['claim', 'standing', 'skipped']],
  ],
  [
    'erased',
    'the media and positions were erased: the signed result still has them',
    withOne(
      (one) => {
        Object.assign(one, { erased_at: '2026-11-20T12:45:00.000Z' })
        one.media.is_erased = true
        one.submission.bundle = { version: 1 }
        const evidence = one.result?.factors[0]?.evidence as Record<string, unknown>
        delete evidence.gps
      },
      {
        result: {
          ...scored('timestamp_stale', 25),
          factors: [
            {
              code: 'timestamp_stale',
              points: 25,
              evidence: { compared: '', expected: '', found: '', gps: { lat: 52 } },
            },
          ] as never,
        },
      },
    ),
    [
      [PART, 'statement', 'skipped'],
      [PART, 'original', 'skipped'],
    ],
  ],
  ['earlier-result', 'a result that a later one replaced', withEarlier()],
  [
    'key-announced',
    'the packet names a key that is not among those given: what it signs can not be verified',
    signedAfter((packet) => packet.keys.push({ ...RECORD_KEYS.stranger.jwk } as never)),
    [['keys', 'whose they are', 'skipped']],
  ],
  [
    'result-of-revoked-key',
    'the key of a result was revoked later: the packet, signed by another key, vouches for it',
    withParts({
      evaluatedAt: EARLY,
      signed: REVOKED,
    }),
  ],
  [
    'packet-of-revoked-key',
    'the key of the packet was revoked later: nothing else vouches for the time that it states',
    {
      packet: signPacket(earlyPacket(), { how: REVOKED }),
    },
    [['packet', 'key of the packet', 'unproven']],
  ],
  [
    'result-and-packet-of-revoked-key',
    'the key of packet and result was revoked later',
    (() => {
      const packet = makePacket([makeAttestation({ evaluatedAt: EARLY, signed: REVOKED })])
      packet.about.issued_at = EARLY
      return { packet: signPacket(packet, { how: REVOKED }) }
    })(),
    [
      ['packet', 'key of the packet', 'unproven'],
      [PART, 'key of the signed result', 'unproven'],
    ],
  ],
  [
    'revocation-in-packet',
    'the key set is older than the revocation, which the packet names',
    {
      ...signedAfter(
        (packet) => packet.keys.push({ ...RECORD_KEYS.revoked.jwk, revoked: REVOCATION } as never),
        makePacket([makeAttestation({ signed: REVOKED })]),
      ),
      jwks: UNMARKED,
    },
    failed(PART, 'key of the signed result'),
  ],
  [
    'revocation-of-other-key',
    'the packet names a revocation of a key that only has the id of a given one',
    {
      ...signedAfter(
        (packet) =>
          packet.keys.push({ ...RECORD_KEYS.revoked.jwk, x: RECORD_KEYS.live.jwk.x, revoked: REVOCATION } as never),
        makePacket([makeAttestation({ signed: REVOKED })]),
      ),
      jwks: UNMARKED,
    },
    failed('keys', 'whose they are'),
  ],
  [
    'revocation-earliest',
    'of two doubts the earlier one counts',
    {
      ...signedAfter(
        (packet) => {
          const revoked = { ...REVOCATION, doubted_since: '2026-11-20T10:00:00.000Z' }
          packet.keys.push({ ...RECORD_KEYS.revoked.jwk, revoked } as never)
        },
        makePacket([makeAttestation({ evaluatedAt: EARLY, signed: REVOKED })]),
      ),
    },
    failed(PART, 'key of the signed result'),
  ],
]

const UNREADABLE: PacketCase[] = [
  [
    'about-null',
    'nothing is said of the packet',
    changed(({ packet }) => Object.assign(packet, { about: null })),
    [...failed('file', 'shape'), ...failed('packet', 'digest', 'stated digest'), ...failed('about', 'names', 'digest')],
    false,
  ],
  [
    'keys-no-list',
    'the keys of the packet are no list',
    changed(({ packet }) => Object.assign(packet, { keys: 'none' })),
    [...failed('file', 'shape'), ...failed('packet', 'digest', 'stated digest'), ...failed('keys', 'digest')],
    false,
  ],
  [
    'attestations-no-list',
    'the attestations are no list',
    signedAfter((packet) => Object.assign(packet, { attestations: {} })),
    failed('file', 'shape'),
    false,
  ],
  [
    'attestation-null',
    'an attestation is null',
    signedAfter((packet) => Object.assign(packet, { attestations: [null] })),
    failed('file', 'shape'),
    false,
  ],
  [
    'attestation-id-number',
    'the id of an attestation is a number: its part has the name of its place',
    signedAfter((packet) => Object.assign(packet.attestations[0] ?? {}, { attestation_id: 7 })),
    failed('file', 'shape'),
    false,
  ],
  [
    'member-of-prototype',
    'the packet has a member with a name that every object has, which is a list',
    {
      packet: signPacket({ ...makePacket(), constructor: [] } as never, {
        claims: ({ parts, ...claims }) => ({
          ...claims,
          parts: { ...(parts as object), constructor: hexDigest('[]') },
        }),
      }),
    },
    failed('file', 'shape'),
    false,
  ],
  [
    'status-unknown',
    'the status of a device is none of the service',
    signedAfter((packet) => Object.assign(packet.devices[0] ?? {}, { status: 'borrowed' })),
    failed('file', 'shape'),
    false,
  ],
  [
    'key-null',
    'a key of the packet is null',
    signedAfter((packet) => Object.assign(packet, { keys: [null] })),
    failed('file', 'shape'),
    false,
  ],
  ...(['kty', 'crv', 'x', 'y', 'kid', 'env', 'family'] as const).map(
    (name): PacketCase => [
      `key-no-${name}`,
      `a key of the packet has no ${name}: what is said of its revocation is not read`,
      {
        packet: signPacket(
          { ...makePacket(), keys: [{ ...RECORD_KEYS.revoked.jwk, revoked: REVOCATION, [name]: undefined }] as never },
          { how: REVOKED },
        ),
        jwks: UNMARKED,
      },
      failed('file', 'shape'),
      false,
    ],
  ),
  ['file-empty', 'the file is empty', { file: '' }, failed('file', 'JSON'), false],
  ['file-cut', 'the file ends too early', { file: '{"object":"evidence_packet"' }, failed('file', 'JSON'), false],
  [
    'file-duplicate',
    'a member is there twice: readers would see two packets',
    { file: '{"packet":{},"packet":{}}' },
    failed('file', 'JSON'),
    false,
  ],
  [
    'file-deep',
    'the file is nested deeper than any packet',
    { file: `${'['.repeat(65)}${']'.repeat(65)}` },
    failed('file', 'JSON'),
    false,
  ],
  ['file-list', 'the file is a list', { file: '[]' }, failed('file', 'shape'), false],
  ['file-null', 'the file is null', { file: 'null' }, failed('file', 'shape'), false],
  ...(['packet', 'packet_sha256', 'signature'] as const).map(
    (name): PacketCase => [
      `file-no-${name.replace('_', '-')}`,
      `the file has no ${name}`,
      { packet: { ...signPacket(makePacket()), [name]: null } },
      failed('file', 'shape'),
      false,
    ],
  ),
  [
    'packet-list',
    'the packet is a list',
    { packet: { ...signPacket(makePacket()), packet: [] } },
    failed('file', 'shape'),
    false,
  ],
  [
    'object-other',
    'the file says that it is something else',
    { packet: { ...signPacket(makePacket()), object: 'claim' } },
    failed('file', 'shape'),
    false,
  ],
  [
    'member-added',
    'a member was added beside the packet',
    { packet: { ...signPacket(makePacket()), note: 'trust me' } },
    failed('file', 'shape'),
    false,
  ],
  [
    'version-other',
    'the packet is of another version',
    signedAfter((packet) => Object.assign(packet.about, { version: 'evidence-packet/2' })),
    failed('file', 'shape'),
    false,
  ],
  [
    'member-unknown',
    'the packet has a member that no check reads',
    signedAfter((packet) => Object.assign(packet.claim, { approved: true })),
    failed('file', 'shape'),
    false,
  ],
  [
    'member-missing',
    'the packet lacks a member',
    signedAfter((packet) => Reflect.deleteProperty(packet.claim, 'line')),
    failed('file', 'shape'),
    false,
  ],
]

export const PHOTOS: PacketCase[] = [
  ...HONEST,
  ...UNREADABLE,
  ...SIGNATURES,
  ...CHANGED,
  ...RESULTS,
  ...STATEMENTS,
  ...DEVICE_SIGNATURES,
]
