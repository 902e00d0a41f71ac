import {
  ALL_PARTS,
  afterSigning,
  changed,
  failed,
  HASH,
  PART,
  REVOKED,
  respelled,
  SECOND,
  signedAfter,
  two,
} from './packet-edits.ts'
import { EARLY, makeAttestation, makePacket, signPacket } from './packet-parts.ts'
import type { PacketCase } from './packets.ts'
import { damaged, RECORD_KEYS } from './records.ts'

export const SIGNATURES: PacketCase[] = [
  [
    'signature-null',
    'what is signed is null',
    { packet: signPacket(makePacket(), { how: { text: 'null' } }) },
    [
      ...failed('packet', 'digest'),
      ...failed('about', 'names'),
      ...ALL_PARTS.flatMap((part) => failed(part, 'digest')),
    ],
  ],
  [
    'signature-damaged-vouches-for-nothing',
    'the signature of the packet does not verify: it vouches for no result of a revoked key',
    changed(
      (signed) => Object.assign(signed, { signature: damaged(signed.signature) }),
      signPacket(makePacket([makeAttestation({ evaluatedAt: EARLY, signed: REVOKED })])),
    ),
    [...failed('packet', 'signature'), [PART, 'key of the signed result', 'unproven']],
  ],
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
      ...ALL_PARTS.flatMap((part) => failed(part, 'digest')),
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
    ALL_PARTS.flatMap((part) => failed(part, 'digest')),
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

export const CHANGED: PacketCase[] = [
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
