// Facts of a mandate: its check-ins, its end, and the members of its budget and constraints.

import type { Mandate } from '@countersign/client'
import { Value, withApiNames } from '../../parts/finding.tsx'
import { formatSeconds } from '../../parts/measures.ts'
import { Id, Nothing, Time } from '../../parts/values.tsx'
import { type Fact, Facts, Part } from '../../recipe/detail-page.tsx'

export const heartbeatOf = ({
  intervalSeconds,
  lastCheckInAt,
  nextCheckInBy,
  lapsesAt,
}: NonNullable<Mandate['heartbeat']>): Fact[] => [
  ['Checks in every', formatSeconds(intervalSeconds)],
  ['Last check-in', <Time key="last" at={lastCheckInAt} />],
  ['Next check-in by', <Time key="next" at={nextCheckInBy} />],
  ['Lapses', <Time key="lapses" at={lapsesAt} />],
]

export const revocationOf = ({ revokedAt, revokedBy, revokedReason }: Mandate): Fact[] => [
  ['Revoked', <Time key="revoked" at={revokedAt} />],
  ['Revoked by', revokedBy?.label ?? <Id key="by" id={revokedBy?.id} />],
  ['Reason', revokedReason ?? <Nothing key="reason" />],
]

export function Members({ title, members, none }: { title: string; members: object | null; none: string }) {
  const rows = Object.entries(withApiNames(members ?? {}))
  return (
    <Part title={title}>
      {rows.length === 0 ? (
        none
      ) : (
        <Facts
          facts={rows.map(([name, value]) => [
            name.replaceAll('_', ' '),
            <Value key={name} name={name} value={value} />,
          ])}
        />
      )}
    </Part>
  )
}
