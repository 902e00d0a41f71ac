import type { Claim } from '@countersign/client'
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { ReasonTags } from '../../parts/reason.tsx'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<Claim> = {
  title: 'Claims',
  name: 'claims',
  permission: 'claims.read',
  about: 'What your captures say about each claim: its combined risk, and the factors that make it.',
  list: (client, query) => client.claims.list(query),
  idOf: ({ claimId }) => claimId,
  pathOf: ({ claimId }) => `claims/${claimId}`,
  filters: [
    { kind: 'text', name: 'reference', title: 'Reference' },
    {
      kind: 'choices',
      name: 'riskStatus',
      title: 'Risk',
      values: ['passed', 'review', 'failed', 'pending'],
    },
    { kind: 'flag', name: 'hasCase', title: 'Has a case' },
    { kind: 'text', name: 'line', title: 'Line' },
    { kind: 'text', name: 'factor', title: 'Factor' },
    { kind: 'text', name: 'batchId', title: 'Batch' },
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'reference', title: 'Reference', show: (claim) => <Reference claim={claim} /> },
    { name: 'risk', title: 'Risk', show: ({ riskStatus }) => <Status value={riskStatus} /> },
    { name: 'score', title: 'Score', isNumber: true, show: ({ riskScore }) => <Num value={riskScore} /> },
    { name: 'factors', title: 'Factors', show: ({ factorCodes }) => <ReasonTags codes={factorCodes} /> },
    { name: 'case', title: 'Case', show: ({ caseId }) => <Id id={caseId} /> },
    { name: 'line', title: 'Line', isHidden: true, show: ({ line }) => line },
    {
      name: 'provenance',
      title: 'Provenance',
      isHidden: true,
      show: ({ provenanceStatus }) => <Status value={provenanceStatus} />,
    },
    { name: 'created', title: 'Created', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'id', title: 'Id', isHidden: true, show: ({ claimId }) => <Id id={claimId} /> },
  ],
  empty: {
    sentence: 'A claim appears with its first capture.',
    curl: 'npm run capture -- photo.jpg --captured-at now --lat 52.5163 --lng 13.3777 --url {base_url} --key <API_KEY>',
  },
}

export const Page = () => <List page={page} />

/** A link, so that the keyboard reaches the claim too. */
function Reference({ claim: { reference, claimId } }: { claim: Claim }) {
  const { environment } = useSession()
  if (reference === null) return <Id id={claimId} />
  return (
    <Anchor
      component={Link}
      {...addressOf(environment, `claims/${claimId}`)}
      size="sm"
      lineClamp={2}
      maw={260}
      title={reference}
      style={{ overflowWrap: 'anywhere' }}
    >
      {reference}
    </Anchor>
  )
}
