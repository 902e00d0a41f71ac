import type { Claim } from '@countersign/client'
import { Codes, Id, Num, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'

const page: DetailPage<Claim> = {
  kind: 'Claim',
  name: 'claims',
  permission: 'claims.read',
  listPath: 'claims',
  retrieve: (client, id, signal) => client.claims.retrieve(id, { signal }),
  titleOf: ({ reference }) => reference,
  statusOf: ({ riskStatus }) => riskStatus,
  facts: ({ riskScore, provenanceStatus, factorCodes, caseId, lossAt, createdAt, updatedAt, erasedAt }) => [
    ['Score', <Num key="score" value={riskScore} />],
    ['Provenance', <Status key="provenance" value={provenanceStatus} />],
    ['Factors', <Codes key="factors" values={factorCodes} />],
    ['Case', <Id key="case" id={caseId} />],
    ['Loss', <Time key="loss" at={lossAt} />],
    ['Created', <Time key="created" at={createdAt} />],
    ['Changed', <Time key="updated" at={updatedAt} />],
    ...(erasedAt === null ? [] : [['Erased', <Time key="erased" at={erasedAt} />] as const]),
  ],
  hasEvents: true,
}

export const Page = () => <Detail page={page} />
