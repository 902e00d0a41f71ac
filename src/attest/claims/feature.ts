import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import type { CapturesFeature } from '../captures/feature.ts'
import type { MediaFeature } from '../media/feature.ts'
import { createClaims } from './claims.ts'
import { EVENTS, NOTES } from './notes.ts'
import { claimRoutes } from './routes.ts'
import { purgeAttestations } from './rows.ts'
import { createVerify, type VerifyDeps } from './verify.ts'

export type ClaimsFeature = ReturnType<typeof claimsFeature>

type Below = Pick<MediaFeature, 'media'> &
  Pick<CapturesFeature, 'streams'> &
  Pick<VerifyDeps, 'inspector' | 'c2pa' | 'c2paAnchorsOf' | 'openCase' | 'revocations'>

/** Attestations of captures, and their claims. */
export function claimsFeature(p: Platform, { media, streams, ...below }: Below) {
  const claims = createClaims({
    ...p,
    storeInline: media.storeInline,
    streams,
    dispatchSoon: p.dispatchSoon('attest'),
  })
  return defineFeature(
    {
      name: 'claims',
      data: [
        { table: 'claims', key: ['id'] },
        { table: 'attestations', key: ['id'] },
        { table: 'attestation_results', key: ['attestation_id', 'seq'] },
        { table: 'assertion_counters', key: ['device_id', 'key_digest', 'counter'] },
      ],
      routes: claimRoutes(claims, p.signingKeys),
      notes: NOTES,
      events: EVENTS,
      work: { attest: () => createVerify({ ...p, ...below, signRecord: p.signingKeys.signRecord }) },
      // Only where keys are published; other accounts keep their claims until they delete them.
      retention: [
        rowRule(p.db, 'attestations', null, purgeAttestations),
        rowRule(
          p.db,
          'claims',
          null,
          oldRows({
            table: 'claims',
            idType: 'clm',
            age: 'created_at',
            unless: [
              'SELECT FROM attestations WHERE attestations.claim_id = claims.id',
              'SELECT FROM cases WHERE cases.claim_id = claims.id',
            ],
            isLocking: true,
          }),
        ),
      ],
    },
    { claims },
  )
}
