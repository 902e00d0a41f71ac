// A whole evidence packet, as one claim of the capture kit made it. Texts of more than a hundred characters are shortened.

import type { z } from 'zod'
import { PUBLIC_KEY } from '#src/catalogue/examples.ts'
import type { signedPacketView } from './views.ts'

export const EXAMPLE_PACKET: z.input<typeof signedPacketView> = {
  object: 'evidence_packet',
  packet: {
    about: {
      version: 'evidence-packet/1',
      packet_id: 'evp_85882951a43662a5a22cd747ffbe53cd',
      issued_at: '2026-11-22T07:32:33.924Z',
      account_id: 'acc_01m812etp7fvys0xetj94qs1sc',
      environment: 'sandbox',
      claim_id: 'clm_test_01m812n8p3f4maxxceabpv7bf9',
      keys_at: 'https://api.example.com/.well-known/jwks.json',
      attestations: {
        total: 1,
        included: 1,
        is_complete: true,
        next_cursor: null,
      },
      statement:
        'This packet holds all 1 attestations of the claim. Photos are not part of the packet; each is named by its SHA-256. Events are kept for a limited time, so that old ones may be missing from the timeline.',
    },
    claim: {
      claim_id: 'clm_test_01m812n8p3f4maxxceabpv7bf9',
      reference: 'CLM-2026-001',
      line: null,
      loss_location: null,
      loss_at: null,
      risk_status: 'failed',
      risk_score: 70,
      provenance_status: 'verified',
      factor_codes: ['hardware_backing_absent', 'gps_absent'],
      advisory_codes: ['exif_missing', 'c2pa_absent'],
      created_at: '2026-11-22T07:31:18.339Z',
      updated_at: '2026-11-22T07:31:19.346Z',
      erased_at: null,
    },
    attestations: [
      {
        attestation_id: 'att_test_01m812n8p2ec1th6tjk5cw6cak',
        external_id: null,
        batch_id: null,
        device_id: 'dev_test_01m812n8ggfzkbv1fwd60zgppf',
        status: 'evaluated',
        accepted_at: '2026-11-22T07:31:18.339Z',
        evaluated_at: '2026-11-22T07:31:19.292Z',
        erased_at: null,
        media: {
          media_id: 'med_test_01m812n8kkerbt9tpzcg6f2v60',
          sha256: 'c19cd1c3715d5054eec85c7c8bc6afa1fdf60e150ed705c39e66fc3d943d8c27',
          size: 56798,
          content_type: 'image/jpeg',
          width: 640,
          height: 480,
          is_erased: false,
        },
        submission: {
          media_type: 'image',
          claim: {
            reference: 'CLM-2026-001',
          },
          bundle: {
            version: 1,
            biometric: {
              gated: true,
              method: 'fingerprint',
            },
            device_id: 'dev_test_01m812n8ggfzkbv1fwd60zgppf',
            captured_at: '2026-11-22T07:31:17.835Z',
            sensor_hash: 'c19cd1c3715d5054eec85c7c8bc6afa1fdf60e150ed705c39e66fc3d943d8c27',
            session_nonce: 'nvg6errTrxR26Qu8aL_FAyfViy63kr6VoVJ7ZtUPD-w',
          },
          signature: {
            alg: 'ES256',
            value: 'HTSagTN5YrAkOVpp9CAw0iZnkQT1I9pg1M_rayF2QL_qZAv6r_jf6-HZLbf-d92bgp2uc2Xrmrv_5odDWoRAVQ',
          },
        },
        bundle_sha256: 'yyKlLum37R8Chjth-kVupkQ6c-jAq5YtFJ1zVHYES0Q',
        key: {
          source: 'certificate',
          spki: 'MFkwEwYHKoZIzj0CAQYIKoZI...',
        },
        certificates: {
          source: 'submission',
          chain: [
            {
              der: 'MIIBmTCCAT+gAwIBAgIQXZ51...',
              subject: 'CN=Capture Kit Device',
              issuer: 'CN=Capture Kit Devices',
              serial: '5d9e7579129ada85f0a389e0cbb98523',
              not_before: '1990-01-01T00:00:00.000Z',
              not_after: '2029-11-22T07:31:17.000Z',
              fingerprint: 'e19e4e231c225fcc5aacf2c3d939e5d806e5ac43a5d088aa426b7a6ea9bf7b55',
            },
            {
              der: 'MIIBnTCCAUOgAwIBAgIQcWl3...',
              subject: 'CN=Capture Kit Devices',
              issuer: 'CN=Capture Kit Root',
              serial: '71697741557745076da1bb79e4e81b5e',
              not_before: '1990-01-01T00:00:00.000Z',
              not_after: '2046-01-01T00:00:00.000Z',
              fingerprint: 'fc2cb65695b4b403b67e74239b423671c9a8397b0ac57a1893bbfb9f2a01695c',
            },
          ],
        },
        distance: null,
        result: {
          observations: [],
          provenance_status: 'verified',
          risk_status: 'failed',
          risk_score: 70,
          hardware_tier: 'none',
          rules_version: 'attest-rules/3',
          factors: [
            {
              code: 'hardware_backing_absent',
              points: 40,
              evidence: {
                why: 'no_evidence',
                found: 'none',
                compared: 'hardware tier that the server verified',
                expected: 'tee or better',
                device_state: 'enrolled',
              },
            },
            {
              code: 'gps_absent',
              points: 30,
              evidence: {
                mock: false,
                found: null,
                compared: 'GPS fix of the bundle',
                expected: 'a fix',
              },
            },
          ],
          advisory_factors: [
            {
              code: 'exif_missing',
              evidence: {
                found: 'missing',
                compared: 'EXIF block of the media',
                expected: 'readable',
              },
            },
            {
              code: 'c2pa_absent',
              evidence: {
                found: 'absent',
                compared: 'C2PA manifest of the media',
                expected: 'present',
                reference: null,
              },
            },
          ],
          result_jws: 'eyJhbGciOiJFUzI1NiIsImtp...',
        },
        found_later: [],
        earlier_results: [],
        failure: null,
      },
    ],
    devices: [
      {
        device_id: 'dev_test_01m812n8ggfzkbv1fwd60zgppf',
        name: 'Capture Kit Device',
        status: 'enrolled',
        hardware_tier: 'none',
        hardware: null,
        certificate: {
          subject: 'CN=Capture Kit Device',
          serial: '5d9e7579129ada85f0a389e0cbb98523',
          not_before: '1990-01-01T00:00:00.000Z',
          not_after: '2029-11-22T07:31:17.000Z',
          fingerprint: 'e19e4e231c225fcc5aacf2c3d939e5d806e5ac43a5d088aa426b7a6ea9bf7b55',
        },
        spki_sha256: '3d13ef97ff9bb355fc26f47f5da6fdee909ad91ca4e6d49e38a6107acf8dadfd',
        enrolled_at: '2026-11-22T07:31:18.160Z',
        revoked_at: null,
        revoke_effective_at: null,
        revoke_reason: null,
        spki: 'MFkwEwYHKoZIzj0CAQYIKoZI...',
      },
    ],
    cases: [
      {
        case_id: 'cas_test_01m812n9nwe1n88qkv2va9452h',
        claim_id: 'clm_test_01m812n8p3f4maxxceabpv7bf9',
        status: 'open',
        reason_code: null,
        assignee: null,
        priority: 'normal',
        fraud_suspected_by: null,
        version: 1,
        created_at: '2026-11-22T07:31:19.356Z',
        updated_at: '2026-11-22T07:31:19.356Z',
        closed_at: null,
        history: [
          {
            version: 1,
            kind: 'opened',
            at: '2026-11-22T07:31:19.369Z',
            via: 'system',
            actor: null,
            api_key_id: null,
            from: null,
            to: 'open',
            reason_code: null,
            note: null,
            note_erased_at: null,
            changes: [],
            note_withheld: false,
          },
        ],
        history_omitted: 0,
      },
    ],
    timeline: {
      moments: [
        {
          at: '2026-11-22T07:31:17.835Z',
          kind: 'capture.claimed',
          subject: 'att_test_01m812n8p2ec1th6tjk5cw6cak',
          detail: {},
        },
        {
          at: '2026-11-22T07:31:18.339Z',
          kind: 'claim.created',
          subject: 'clm_test_01m812n8p3f4maxxceabpv7bf9',
          detail: {},
        },
        {
          at: '2026-11-22T07:31:18.339Z',
          kind: 'attestation.accepted',
          subject: 'att_test_01m812n8p2ec1th6tjk5cw6cak',
          detail: {},
        },
        {
          at: '2026-11-22T07:31:19.292Z',
          kind: 'attestation.evaluated',
          subject: 'att_test_01m812n8p2ec1th6tjk5cw6cak',
          detail: {
            risk_status: 'failed',
            risk_score: 70,
            provenance_status: 'verified',
          },
        },
      ],
      omitted: 0,
    },
    keys: [PUBLIC_KEY],
  },
  packet_sha256: '834a1005603667084fa5b7e59807fb43f9f64af0c630abd384cc3f495722fefa',
  signature: 'eyJhbGciOiJFUzI1NiIsImtp...',
}
