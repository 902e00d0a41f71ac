import type { SubmittedAttestation } from '@countersign/client'
import { useParams } from '@tanstack/react-router'
import { ReasonTags } from '../../parts/reason.tsx'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const pageOf = (claimId: string): ListPage<SubmittedAttestation> => ({
  title: 'Captures of a claim',
  name: `attestations.${claimId}`,
  permission: 'claims.read',
  about: 'Every capture with its result. The claim has the highest score of them.',
  actions: <Id id={claimId} />,
  list: (client, query) => client.claims.attestations.list(claimId, query as object),
  idOf: ({ attestationId }) => attestationId,
  pathOf: ({ attestationId }) => `attestations/${attestationId}`,
  columns: [
    { name: 'id', title: 'Capture', show: ({ attestationId }) => <Id id={attestationId} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'type', title: 'Type', show: ({ submission }) => submission.media_type },
    { name: 'risk', title: 'Risk', show: ({ riskStatus }) => <Status value={riskStatus} /> },
    { name: 'score', title: 'Score', isNumber: true, show: ({ riskScore }) => <Num value={riskScore} /> },
    {
      name: 'factors',
      title: 'Factors',
      show: ({ factors = [] }) => <ReasonTags codes={factors.map(({ code }) => code)} />,
    },
    { name: 'device', title: 'Device', show: ({ deviceId }) => <Id id={deviceId} /> },
    { name: 'accepted', title: 'Accepted', show: ({ acceptedAt }) => <Time at={acceptedAt} /> },
  ],
  empty: {
    sentence: 'The claim has no capture yet.',
    curl: 'npm run capture -- photo.jpg --captured-at now --lat 52.5163 --lng 13.3777 --url {base_url} --key <API_KEY>',
  },
})

export function Page() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return <List key={id} page={pageOf(id)} />
}
