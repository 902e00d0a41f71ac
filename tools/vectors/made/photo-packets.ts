// Packets of photos: the file, its signature, its parts and its keys.

import type { EvidencePacket } from '#src/attest/evidence/views.ts'
import { RESULTS, STATEMENTS } from './attestation-packets.ts'
import { AUTHORITY_CERTIFICATE, DEVICE_CERTIFICATE, FORGED_CERTIFICATE, OTHER_DEVICE_KEY } from './certificates.ts'
import {
  afterSigning,
  changed,
  earlyPacket,
  failed,
  HASH,
  NO_CERTIFICATES,
  noResult,
  PART,
  PLAIN_PHOTO,
  plainPhoto,
  REVOKED,
  respelled,
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
import { EARLY, makeAttestation, makePacket, signPacket } from './packet-parts.ts'
import type { PacketCase } from './packets.ts'
import { damaged, RECORD_KEYS, REVOCATION } from './records.ts'

const HONEST: PacketCase[] = [
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

const SIGNATURES: PacketCase[] = [
  [
    'signature-damaged',
    'one bit of the signature was changed',
    changed((signed) => Object.assign(signed, { signature: damaged(signed.signature) })),
    failed('packet', 'signature'),
  ],
  [
    'signature-no-jws',
    'the signature is no JWS',
    changed((signed) => Object.assign(signed, { signature: 'x' })),
    failed('packet', 'signature'),
  ],
  [
    'signature-spare-bits',
    'the last character of the signature was changed in bits that decoders ignore',
    changed((signed) => Object.assign(signed, { signature: respelled(signed.signature) })),
    failed('packet', 'signature'),
  ],
  [
    'signature-no-json',
    'what is signed is no JSON',
    { packet: signPacket(makePacket(), { how: { text: 'packet' } }) },
    failed('packet', 'signature'),
  ],
  [
    'signature-of-stranger',
    'the packet is signed by a key in no set',
    { packet: signPacket(makePacket(), { how: { key: RECORD_KEYS.stranger } }) },
    failed('packet', 'signature'),
  ],
  [
    'signature-of-token-key',
    'the packet is signed by a key that signs tokens',
    { packet: signPacket(makePacket(), { how: { key: RECORD_KEYS.token } }) },
    failed('packet', 'signature'),
  ],
  [
    'signature-no-object',
    'what is signed is a list',
    { packet: signPacket(makePacket(), { how: { text: '[]' } }) },
    [
      ...failed('packet', 'digest'),
      ...failed('about', 'names'),
      ...['about', 'claim', PART, 'devices/dev_test_01m812n8ggfzkbv1fwd60zgppf', 'cases', 'timeline', 'keys'].flatMap(
        (part) => failed(part, 'digest'),
      ),
    ],
  ],
  [
    'signature-of-result',
    'what is signed is a result',
    { packet: signPacket(makePacket(), { typ: 'attest-result+jwt' }) },
    failed('packet', 'signature'),
  ],
  [
    'signature-of-seal',
    'what is signed is the seal of a document',
    { packet: signPacket(makePacket(), { typ: 'evidence-pdf+jwt' }) },
    failed('packet', 'signature'),
  ],
  [
    'signature-by-live-key',
    'a packet of the sandbox is signed by a key of live',
    { packet: signPacket(makePacket(), { how: { key: RECORD_KEYS.live } }) },
    failed('about', 'names'),
  ],
  ...['packet_id', 'claim_id', 'account_id', 'environment', 'issued_at'].map(
    (name): PacketCase => [
      `signature-of-other-${name.replace('_', '-')}`,
      `the signature is that of another ${name}`,
      { packet: signPacket(makePacket(), { claims: (claims) => ({ ...claims, [name]: 'other' }) }) },
      failed('about', 'names'),
    ],
  ),
  [
    'signature-of-other-digest',
    'the signature is that of another packet',
    { packet: signPacket(makePacket(), { claims: (claims) => ({ ...claims, packet_sha256: HASH }) }) },
    failed('packet', 'digest'),
  ],
  [
    'signature-of-fewer-parts',
    'the signature lacks a part',
    {
      packet: signPacket(makePacket(), {
        claims: ({ parts, ...claims }) => ({
          ...claims,
          parts: Object.fromEntries(Object.entries(parts as object).slice(1)),
        }),
      }),
    },
    failed('about', 'digest'),
  ],
  [
    'signature-of-more-parts',
    'the signature has a part that the packet has not',
    {
      packet: signPacket(makePacket(), {
        claims: ({ parts, ...claims }) => ({ ...claims, parts: { ...(parts as object), 'devices/other': HASH } }),
      }),
    },
    failed('devices/other', 'digest'),
  ],
  [
    'signature-of-other-part',
    'a part has another digest',
    {
      packet: signPacket(makePacket(), {
        claims: ({ parts, ...claims }) => ({ ...claims, parts: { ...(parts as object), claim: HASH } }),
      }),
    },
    failed('claim', 'digest'),
  ],
  [
    'signature-without-parts',
    'the signature has no parts',
    { packet: signPacket(makePacket(), { claims: ({ parts: _, ...claims }) => claims }) },
    ['about', 'claim', PART, 'devices/dev_test_01m812n8ggfzkbv1fwd60zgppf', 'cases', 'timeline', 'keys'].flatMap(
      (part) => failed(part, 'digest'),
    ),
  ],
  [
    'digest-stated',
    'the digest beside the signature is another one',
    changed((signed) => Object.assign(signed, { packet_sha256: HASH })),
    failed('packet', 'stated digest'),
  ],
  [
    'key-of-packet-revoked',
    'the packet is of a time at which its key is doubted',
    { packet: signPacket(makePacket(), { how: REVOKED }) },
    failed('packet', 'key of the packet'),
  ],
  [
    'key-of-packet-revoked-no-time',
    'the packet is of a revoked key, and states no time',
    { packet: signPacket(makePacket(), { how: REVOKED, claims: (claims) => ({ ...claims, issued_at: 7 }) }) },
    [...failed('about', 'names'), ...failed('packet', 'key of the packet')],
  ],
  ...(['x', 'y', 'env', 'family'] as const).map(
    (name): PacketCase => [
      `own-key-other-${name}`,
      `the packet has a key of a given id with another ${name}`,
      signedAfter(({ keys }) =>
        Object.assign(keys[0] ?? {}, { [name]: { x: 'A', y: 'A', env: 'live', family: 'token' }[name] }),
      ),
      failed('keys', 'whose they are'),
    ],
  ),
  [
    'own-keys-forged',
    'the packet and its keys are forged: its own keys prove nothing',
    {
      packet: signPacket(
        { ...makePacket(), keys: [RECORD_KEYS.stranger.jwk] as never },
        { how: { key: RECORD_KEYS.stranger } },
      ),
    },
    [['keys', 'whose they are', 'skipped'], ...failed('packet', 'signature')],
  ],
]

const CHANGED: PacketCase[] = [
  [
    'changed-about',
    'what is said of the packet was changed',
    changed(({ packet }) => Object.assign(packet.about, { statement: 'All is well.' })),
    afterSigning('about'),
  ],
  [
    'changed-claim',
    'the claim was changed',
    changed(({ packet }) => Object.assign(packet.claim, { line: 'home' })),
    afterSigning('claim'),
  ],
  [
    'changed-attestation',
    'an attestation was changed',
    changed(({ packet }) => Object.assign(packet.attestations[0] ?? {}, { external_id: 'x' })),
    afterSigning(PART),
  ],
  [
    'changed-device',
    'a device was changed',
    changed(({ packet }) => Object.assign(packet.devices[0] ?? {}, { name: 'x' })),
    afterSigning('devices/dev_test_01m812n8ggfzkbv1fwd60zgppf'),
  ],
  [
    'changed-timeline',
    'an event was taken out',
    changed(({ packet }) => packet.timeline.moments.pop()),
    afterSigning('timeline'),
  ],
  ['changed-keys', 'a key was taken out', changed(({ packet }) => packet.keys.pop()), afterSigning('keys')],
  [
    'changed-device-removed',
    'a device was taken out',
    changed(({ packet }) => packet.devices.pop()),
    afterSigning('devices/dev_test_01m812n8ggfzkbv1fwd60zgppf'),
  ],
  [
    'changed-attestation-removed',
    'an attestation was taken out',
    changed(({ packet }) => packet.attestations.pop(), signPacket(two())),
    afterSigning(`attestations/${SECOND}`),
  ],
  [
    'changed-attestation-repeated',
    'an attestation is there twice',
    changed(({ packet }) => packet.attestations.push(structuredClone(packet.attestations[0] as never))),
    afterSigning(`${PART} (again, at 1)`),
  ],
  [
    'changed-attestations-swapped',
    'two attestations changed places',
    changed(({ packet }) => packet.attestations.reverse(), signPacket(two())),
    failed('packet', 'digest', 'stated digest'),
  ],
]

export const PHOTOS: PacketCase[] = [...HONEST, ...UNREADABLE, ...SIGNATURES, ...CHANGED, ...RESULTS, ...STATEMENTS]
