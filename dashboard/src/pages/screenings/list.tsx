import type { Screening } from '@countersign/client'
import { formatPercent } from '../../parts/measures.ts'
import { ReasonTags } from '../../parts/reason.tsx'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<Screening> = {
  title: 'Screenings',
  name: 'screenings',
  permission: 'screening.read',
  about:
    'What a detector says of media: whether they are generated or show a replaced face. It never counts in a score.',
  list: (client, query) => client.screenings.list(query as object),
  idOf: ({ screeningId }) => screeningId,
  pathOf: ({ screeningId }) => `screenings/${screeningId}`,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['queued', 'running', 'succeeded', 'failed'] },
    { kind: 'choice', name: 'factor', title: 'Finding', values: ['ai_generated_likely', 'deepfake_likely'] },
    { kind: 'text', name: 'claimId', title: 'Claim' },
    { kind: 'text', name: 'mediaId', title: 'Media' },
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'id', title: 'Screening', show: ({ screeningId }) => <Id id={screeningId} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'claim', title: 'Claim', show: ({ claimId }) => <Id id={claimId} /> },
    { name: 'genai', title: 'Generated', isNumber: true, show: ({ genaiScore }) => <Share value={genaiScore} /> },
    {
      name: 'face',
      title: 'Replaced face',
      isNumber: true,
      show: ({ deepfakeScore }) => <Share value={deepfakeScore} />,
    },
    {
      name: 'findings',
      title: 'Findings',
      show: ({ factors }) => <ReasonTags codes={factors.map(({ code }) => code)} />,
    },
    { name: 'failure', title: 'Why not', isHidden: true, show: ({ failure }) => failure?.detail ?? <Nothing /> },
    { name: 'created', title: 'Created', show: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  empty: {
    sentence: 'A screening begins with the media of a claim, where the account screens them, or with a request.',
    curl: `curl {base_url}/v1/media/screen -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"media": {"media_id": "<MEDIA_ID>"}}'`,
  },
}

export const Page = () => <List page={page} />

export function Share({ value }: { value: number | null }) {
  return value === null ? <Nothing /> : <span>{formatPercent(value)}</span>
}
