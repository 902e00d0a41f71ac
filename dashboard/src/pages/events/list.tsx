import type { Event } from '@countersign/client'
import { Code } from '@mantine/core'
import { Id, Num, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, Part } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { useEventTypes } from './types.ts'

const page: ListPage<Event> = {
  title: 'Events',
  name: 'events',
  permission: 'events.read',
  about: 'What happened in this environment, as your endpoints and consumers get it. Events are kept for 30 days.',
  list: (client, query) => client.events.list(query as object),
  idOf: ({ eventId }) => eventId,
  pathOf: ({ eventId }) => `events/${eventId}`,
  columns: [
    { name: 'created', title: 'At', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'type', title: 'Type', show: ({ type }) => <Code>{type}</Code> },
    { name: 'position', title: 'Position', isNumber: true, show: ({ position }) => <Num value={position} /> },
    { name: 'data', title: 'Data', show: ({ data }) => <Beginning text={JSON.stringify(data)} /> },
    { name: 'id', title: 'Id', show: ({ eventId }) => <Id id={eventId} /> },
  ],
  empty: {
    sentence: 'The first event comes with the first capture, approval or trace, or with a ping to an endpoint.',
  },
}

const detail: DetailPage<Event> = {
  kind: 'Event',
  name: 'events',
  permission: 'events.read',
  listPath: 'events',
  retrieve: (client, id, signal) => client.events.retrieve(id, { signal }),
  titleOf: ({ type }) => type,
  facts: ({ createdAt, position }) => [
    ['At', <Time key="at" at={createdAt} />],
    ['Position', <Num key="position" value={position} />],
  ],
  children: ({ data }) => (
    <Part title="Data">
      <Code block tabIndex={0}>
        {JSON.stringify(data, null, 2)}
      </Code>
    </Part>
  ),
}

export function Page() {
  const types = useEventTypes()
  const filters: ListPage<Event>['filters'] = [
    { kind: 'choices', name: 'eventType', title: 'Type', values: types },
    { kind: 'text', name: 'subjectId', title: 'Subject' },
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ]
  return <List page={{ ...page, filters }} />
}

export const DetailOf = () => <Detail page={detail} />

const SHOWN_CHARACTERS = 120

function Beginning({ text }: { text: string }) {
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
  return <Code style={{ overflowWrap: 'anywhere' }}>{shown}</Code>
}
