// Attestations in packets: their results, statements, certificates and originals, and the claim that follows from them.

import {
  AUTHORITY_CERTIFICATE,
  DEVICE_CERTIFICATE,
  FORGED_CERTIFICATE,
  OTHER_DEVICE_KEY,
  SELF_SIGNED_CERTIFICATE,
  spkiOf,
  UNRELATED_CERTIFICATE,
} from './certificates.ts'
import {
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
  stated,
  withCertificates,
  withEarlier,
  withOne,
  withParts,
} from './packet-edits.ts'
import { BUNDLE, EARLY, makeAttestation, makePacket, ORIGINAL, resultPayload, signPacket } from './packet-parts.ts'
import type { PacketCase } from './packets.ts'
import { damaged, RECORD_KEYS, signRecord } from './records.ts'

export const RESULTS: PacketCase[] = [
  [
    'result-damaged-score',
    'the signature of the result does not verify, and its points do not add up to the score',
    withOne(({ result }) => Object.assign(result ?? {}, { result_jws: damaged(result?.result_jws ?? '') }), {
      result: { risk_score: 30 },
    }),
    failed(PART, 'signed result', 'score'),
  ],
  [
    'earlier-null',
    'what is signed is null',
    withEarlier({}, { how: { text: 'null' } }),
    failed(PART, 'earlier result'),
  ],
  [
    'result-missing',
    'an evaluated attestation has no result',
    withOne((one) => Object.assign(one, { result: null })),
    failed(PART, 'result'),
  ],
  [
    'result-damaged',
    'the signature of the result does not verify',
    withOne(({ result }) => Object.assign(result ?? {}, { result_jws: damaged(result?.result_jws ?? '') })),
    failed(PART, 'signed result'),
  ],
  ...Object.keys(resultPayload(makeAttestation(), makeAttestation().result as never)).map(
    (name): PacketCase => [
      `result-signed-with-other-${name.replaceAll('_', '-')}`,
      `the signed result has another ${name}`,
      withParts({ signed: { payload: { [name]: 'other' } } }),
      failed(PART, 'result as signed'),
    ],
  ),
  [
    'result-of-other-kind',
    'what is signed is no result',
    withParts({ signed: { typ: 'ledger-checkpoint+jwt' } }),
    failed(PART, 'signed result'),
  ],
  [
    'result-by-live-key',
    'the result is signed by a key of live',
    withParts({ signed: { key: RECORD_KEYS.live } }),
    failed(PART, 'signed result'),
  ],
  [
    'result-of-stranger',
    'the result is signed by a key in no set',
    withParts({ signed: { key: RECORD_KEYS.stranger } }),
    failed(PART, 'signed result'),
  ],
  [
    'result-no-object',
    'what is signed is null',
    withParts({ signed: { text: 'null' } }),
    failed(PART, 'result as signed'),
  ],
  [
    'result-of-doubtful-key',
    'the result is of a time at which its key is doubted',
    withParts({ signed: REVOKED }),
    failed(PART, 'key of the signed result'),
  ],
  [
    'result-position-shown',
    'nothing was erased, and the shown result has no position, which the signed one has',
    withOne((one) => Reflect.deleteProperty(one.result?.factors[0]?.evidence ?? {}, 'gps'), {
      result: {
        ...scored('timestamp_stale', 25),
        factors: [
          { code: 'timestamp_stale', points: 25, evidence: { compared: '', expected: '', found: '', gps: {} } },
        ] as never,
      },
    }),
    failed(PART, 'result as signed'),
  ],
  [
    'points-other',
    'a finding has other points than the table',
    withParts({ result: scored('gps_absent', 35) }),
    failed(PART, 'points'),
  ],
  [
    'score-other',
    'the points do not add up to the score',
    withParts({ result: { risk_score: 30 } }),
    failed(PART, 'score'),
  ],
  [
    'earlier-damaged',
    'the signature of an earlier result does not verify',
    withEarlier({ result_jws: damaged(signRecord('attest-result+jwt', {})) }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-of-other-kind',
    'what is signed is no result',
    withEarlier({}, { typ: 'ledger-checkpoint+jwt' }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-by-live-key',
    'the earlier result is signed by a key of live',
    withEarlier({}, { how: { key: RECORD_KEYS.live } }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-no-object',
    'what is signed is no object',
    withEarlier({}, { how: { text: '7' } }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-of-other-attestation',
    'the earlier result is that of another attestation',
    withEarlier({}, { payload: { attestation_id: SECOND } }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-risk-score',
    'the signed earlier result has another score',
    withEarlier({ risk_score: 10 }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-risk-status',
    'the signed earlier result has another status',
    withEarlier({ risk_status: 'review' }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-provenance-status',
    'the signed earlier result has another provenance',
    withEarlier({ provenance_status: 'broken' }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-evaluated-at',
    'the signed earlier result is of another time',
    withEarlier({ evaluated_at: EARLY }),
    failed(PART, 'earlier result'),
  ],
  [
    'earlier-of-doubtful-key',
    'an earlier result is of a time at which its key is doubted',
    withEarlier({}, { how: REVOKED }),
    failed(PART, 'key of the earlier result'),
  ],
]

export const STATEMENTS: PacketCase[] = [
  [
    'certificate-self-signed',
    'the certificate of the device is signed by its own key',
    withCertificates(SELF_SIGNED_CERTIFICATE, AUTHORITY_CERTIFICATE),
    failed(PART, 'certificate chain'),
  ],
  [
    'statement-digest',
    'the statement is not the one that was judged',
    withOne((one) => {
      one.submission.bundle = { ...BUNDLE, captured_at: '2026-11-20T11:58:00.000Z' }
    }),
    failed(PART, 'statement digest', 'device signature'),
  ],
  [
    'statement-digest-other',
    'the digest is that of another statement',
    withOne((one) => {
      one.bundle_sha256 = 'A'.repeat(43)
      if (one.result !== null) one.result.result_jws = signRecord('attest-result+jwt', resultPayload(one, one.result))
    }),
    failed(PART, 'statement digest'),
  ],
  [
    'statement-missing',
    'there is a digest of a statement, and no statement',
    withOne((one) => plainPhoto(one, 'A'.repeat(43)), PLAIN_PHOTO),
    [...failed(PART, 'statement'), NO_CERTIFICATES],
  ],
  [
    'device-signature-other-key',
    'the statement is signed by another key than that of the device',
    withParts({ key: OTHER_DEVICE_KEY }),
    failed(PART, 'device signature'),
  ],
  [
    'device-signature-missing',
    'the statement has no signature',
    withOne((one) => Reflect.deleteProperty(one.submission, 'signature')),
    failed(PART, 'device signature'),
  ],
  [
    'device-signature-no-key',
    'there is no key to check the signature of the statement',
    withOne((one) => Object.assign(one, { key: null })),
    failed(PART, 'device signature'),
  ],
  [
    'device-signature-of-queued',
    'the statement of a queued attestation is signed by another key',
    withOne(noResult, { key: OTHER_DEVICE_KEY }),
    [[PART, 'result', 'skipped'], ...failed(PART, 'device signature')],
  ],
  [
    'device-signature-found-invalid',
    'the result says that the signature of the device is invalid, and it verifies',
    withParts({ result: scored('signature_invalid', 70, 'broken') }),
    failed(PART, 'device signature (found invalid)'),
  ],
  [
    'certificate-of-second-other',
    'what is said of a certificate of the second attestation is not its own',
    secondWithSerial('7'),
    failed(`attestations/${SECOND}`, 'certificates'),
  ],
  [
    'certificate-no-der',
    'a certificate can not be read',
    withCertificates({ ...DEVICE_CERTIFICATE, der: 'AAAA' }, AUTHORITY_CERTIFICATE),
    failed(PART, 'certificates'),
  ],
  ...(['subject', 'issuer', 'serial', 'fingerprint', 'not_before', 'not_after'] as const).map(
    (name): PacketCase => [
      `certificate-other-${name.replace('_', '-')}`,
      `the ${name} that is said of a certificate is not its own`,
      stated({ [name]: name.startsWith('not_') ? '2026-06-01T00:00:00.000Z' : 'CN=Other' }),
      failed(PART, 'certificates'),
    ],
  ),
  [
    'certificate-spelled-otherwise',
    'a certificate has a line feed in its base64',
    stated({ der: `${DEVICE_CERTIFICATE.der.slice(0, 64)}\n${DEVICE_CERTIFICATE.der.slice(64)}` }),
    failed(PART, 'certificates'),
  ],
  [
    'certificate-second-other',
    'what is said of the second certificate is not its own',
    withCertificates(DEVICE_CERTIFICATE, { ...AUTHORITY_CERTIFICATE, serial: '7' }),
    failed(PART, 'certificates'),
  ],
  [
    'certificate-of-other-key',
    'the key that checks the statement is not that of the first certificate',
    withCertificates(AUTHORITY_CERTIFICATE),
    failed(PART, 'signing key'),
  ],
  [
    'certificate-of-enrolment-other-key',
    'the key that checks the statement is not that of the enrolled device',
    signedAfter((packet) => {
      const [one] = packet.attestations
      Object.assign(one ?? {}, { certificates: { ...one?.certificates, source: 'device' } })
      Object.assign(packet.devices[0] ?? {}, { spki: spkiOf(OTHER_DEVICE_KEY).toString('base64') })
    }),
    failed(PART, 'signing key'),
  ],
  [
    'certificate-forged',
    'the certificate of the device is not signed by the authority that it names',
    withCertificates(FORGED_CERTIFICATE, AUTHORITY_CERTIFICATE),
    failed(PART, 'certificate chain'),
  ],
  [
    'certificate-unrelated',
    'the certificate of the device names an issuer that is not there',
    withCertificates(UNRELATED_CERTIFICATE, AUTHORITY_CERTIFICATE),
    failed(PART, 'certificate chain'),
  ],
  [
    'original-differs',
    'the original has other bytes',
    { packet: signPacket(makePacket()), originals: [Buffer.alloc(ORIGINAL.byteLength).toString('base64')] },
    failed(PART, 'original'),
  ],
  [
    'original-missing',
    'no given original has its digest',
    { packet: signPacket(makePacket()), originals: [] },
    failed(PART, 'original'),
  ],
  [
    'claim-score',
    'the score of the claim is not the highest of its attestations',
    signedAfter((packet) => Object.assign(packet.claim, { risk_score: 0 })),
    failed('claim', 'score'),
  ],
  [
    'claim-score-of-lower',
    'the score of the claim is that of a lower attestation',
    signedAfter(
      (packet) => Object.assign(packet.claim, { risk_score: 0 }),
      makePacket([makeAttestation({ result: { factors: [], risk_score: 0 } }), makeAttestation({ id: SECOND })]),
    ),
    failed('claim', 'score'),
  ],
  [
    'claim-provenance',
    'the provenance of the claim is not the worst of its attestations',
    signedAfter(
      (packet) => Object.assign(packet.claim, { provenance_status: 'verified' }),
      makePacket([
        makeAttestation(),
        makeAttestation({ id: SECOND, key: OTHER_DEVICE_KEY, result: scored('signature_invalid', 70, 'broken') }),
      ]),
    ),
    failed('claim', 'provenance'),
  ],
  [
    'claim-code-missing',
    'the claim lacks a finding of its attestations',
    signedAfter((packet) => packet.claim.factor_codes.pop()),
    failed('claim', 'findings'),
  ],
  [
    'claim-code-added',
    'the claim has a finding that no attestation has',
    signedAfter((packet) => packet.claim.factor_codes.push('gps_absent')),
    failed('claim', 'findings'),
  ],
  [
    'claim-code-other',
    'the claim has another finding',
    signedAfter((packet) => Object.assign(packet.claim, { factor_codes: ['gps_absent'] })),
    failed('claim', 'findings'),
  ],
  [
    'claim-score-without-results',
    'the claim has a score, and no attestation has a result',
    signedAfter((packet) => Object.assign(packet.claim, { risk_score: 40 }), makePacket([noResult(makeAttestation())])),
    [[PART, 'result', 'skipped'], ...failed('claim', 'standing')],
  ],
]

function secondWithSerial(serial: string) {
  const second = makeAttestation({ id: SECOND })
  Object.assign(second.certificates, { chain: [{ ...DEVICE_CERTIFICATE, serial }, AUTHORITY_CERTIFICATE] })
  return { packet: signPacket(makePacket([makeAttestation(), second])) }
}
