// A capture by its own id: its result, what it was compared with, and the results that later ones replaced.

import type { Attestation } from '@countersign/client'
import { Act } from '../../parts/act.tsx'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, Part } from '../../recipe/detail-page.tsx'
import { Thumbnail } from '../claims/picture.tsx'
import { Score } from '../claims/score.tsx'
import { EarlierResults } from '../claims/screenings.tsx'

const page: DetailPage<Attestation> = {
  kind: 'Capture',
  name: 'attestations',
  permission: 'claims.read',
  listPath: 'claims',
  retrieve: (client, id, signal) => client.claims.attestations.retrieve(id, {}, { signal }),
  titleOf: ({ externalId }) => externalId,
  statusOf: ({ status }) => status,
  facts: (attestation) => [
    ['Claim', <Id key="claim" id={attestation.claimId} />],
    ['Score', <Num key="score" value={attestation.riskScore} />],
    ['Provenance', <Status key="provenance" value={attestation.provenanceStatus} />],
    ['Device', <Id key="device" id={attestation.deviceId} />],
    ['Key', <Status key="tier" value={attestation.hardwareTier} />],
    ['Batch', <Id key="batch" id={attestation.batchId} />],
    ['Media', <Id key="media" id={attestation.mediaId} />],
    ['Accepted', <Time key="accepted" at={attestation.acceptedAt} />],
    ['Evaluated', <Time key="evaluated" at={attestation.evaluatedAt} />],
  ],
  actions: ({ attestationId, status }) =>
    status === 'failed' && (
      <Act
        title="Evaluate again"
        permission="claims.submit"
        name={`${attestationId}.retry`}
        about="The same capture is evaluated once more, by the rules and the risk policy of now."
        send={(client, _values, options) => client.claims.attestations.retry(attestationId, options)}
      />
    ),
  children: (attestation) => (
    <>
      {attestation.erasedAt === undefined && (
        <Thumbnail mediaId={attestation.mediaId} height={260} alt="The submitted photo" />
      )}
      <Part title="Score">
        <Score attestation={attestation} />
      </Part>
      <EarlierResults attestationId={attestation.attestationId} />
    </>
  ),
  hasEvents: true,
}

export const Page = () => <Detail page={page} />
