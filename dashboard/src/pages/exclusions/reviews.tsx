import type { DecideExclusionReviewRequest, ExclusionReview } from '@countersign/client'
import { Act } from '../../parts/act.tsx'
import { By } from '../../parts/by.tsx'
import { Consequence } from '../../parts/consequence.tsx'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { choicesOf } from '../prescribers/words.ts'

const common = { name: 'exclusion-reviews', permission: 'prescribers.read' } as const
const CLEARED = choicesOf(['birth_date_differs', 'npi_differs', 'ssn_differs', 'address_differs', 'other_person'])

const listPage: ListPage<ExclusionReview> = {
  ...common,
  title: 'Exclusion reviews',
  about:
    'Rows of exclusion lists that may be about a prescriber. Orders of the prescriber are refused until a person decides.',
  list: (client, query) => client.clinical.exclusionReviews.list(query as object),
  idOf: ({ exclusionReviewId }) => exclusionReviewId,
  pathOf: ({ exclusionReviewId }) => `exclusion-reviews/${exclusionReviewId}`,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['open', 'cleared', 'confirmed'] },
    { kind: 'choice', name: 'list', title: 'List', values: ['leie', 'sam'] },
    { kind: 'text', name: 'prescriberId', title: 'Prescriber' },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'id', title: 'Review', show: ({ exclusionReviewId }) => <Id id={exclusionReviewId} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'prescriber', title: 'Prescriber', show: ({ prescriberId }) => <Id id={prescriberId} /> },
    { name: 'list', title: 'List', show: ({ list }) => list.toUpperCase() },
    { name: 'matched', title: 'Matched on', show: ({ matchedOn }) => matchedOn.replaceAll('_', ' ') },
    { name: 'reason', title: 'Reason', show: ({ reason }) => reason?.replaceAll('_', ' ') ?? <Nothing /> },
    { name: 'created', title: 'Found', show: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  empty: { sentence: 'No row of a list matches a prescriber by name.' },
}

export const Page = () => <List page={listPage} />

const detailPage: DetailPage<ExclusionReview> = {
  ...common,
  kind: 'Exclusion review',
  listPath: 'exclusion-reviews',
  retrieve: (client, id, signal) => client.clinical.exclusionReviews.retrieve(id, { signal }),
  statusOf: ({ status }) => status,
  facts: (row) => [
    ['Prescriber', <Id key="prescriber" id={row.prescriberId} />],
    ['List', row.list.toUpperCase()],
    ['Date of the list', row.listDate],
    ['Matched on', row.matchedOn.replaceAll('_', ' ')],
    ['SHA-256 of the row', row.rowHash],
    ['Reason', row.reason?.replaceAll('_', ' ') ?? <Nothing key="reason" />],
    ['Decided by', <By key="by" actor={row.decidedBy} />],
    ['Decided', <Time key="decided" at={row.decidedAt} />],
    ['Found', <Time key="created" at={row.createdAt} />],
  ],
  actions: (row) => (
    <>
      {row.status !== 'confirmed' && <Confirm review={row} />}
      {row.status !== 'cleared' && <Clear review={row} />}
    </>
  ),
}

export const DetailOf = () => <Detail page={detailPage} />

function Clear({ review: { exclusionReviewId: id } }: { review: ExclusionReview }) {
  return (
    <Act
      title="Clear"
      permission="exclusions.write"
      name={`${id}.clear`}
      about="Compare the person with the row in the search of the publisher first."
      fields={[{ name: 'reason', title: 'Reason', kind: 'choice', values: CLEARED, isRequired: true }]}
      review={({ reason }) => (
        <Consequence title="The row is about another person" reason={reason?.replaceAll('_', ' ')} isHarmless>
          It holds for this prescriber and this row, also in later files.
        </Consequence>
      )}
      send={(client, { reason }, options) =>
        client.clinical.exclusionReviews.decide(
          id,
          { decision: 'cleared', reason: reason as DecideExclusionReviewRequest['reason'] },
          options,
        )
      }
    />
  )
}

function Confirm({ review: { exclusionReviewId: id } }: { review: ExclusionReview }) {
  return (
    <Act
      title="Confirm"
      permission="exclusions.write"
      name={`${id}.confirm`}
      isDangerous
      about="Compare the person with the row in the search of the publisher first."
      review={() => (
        <Consequence title="The prescriber is excluded" reason="same person">
          From the next decision on, every order of the prescriber is refused.
        </Consequence>
      )}
      send={(client, _, options) =>
        client.clinical.exclusionReviews.decide(id, { decision: 'confirmed', reason: 'same_person' }, options)
      }
    />
  )
}
