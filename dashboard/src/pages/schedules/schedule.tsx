import type { Schedule } from '@countersign/client'
import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatSeconds, formatTime } from '../../parts/measures.ts'
import { Id, Nothing, Num, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, Facts, Part } from '../../recipe/detail-page.tsx'
import { Cancel, Pause, Resume } from './acts.tsx'
import { amountOf } from './list.tsx'

const page: DetailPage<Schedule> = {
  kind: 'Schedule',
  name: 'schedules',
  permission: 'schedules.read',
  listPath: 'schedules',
  retrieve: (client, id, signal) => client.schedules.retrieve(id, { signal }),
  titleOf: ({ counterparty }) => counterparty,
  statusOf: ({ status }) => status,
  facts: (schedule) => [
    ['Amount', amountOf(schedule.amount)],
    ['Frequency', schedule.frequency],
    ['First occurrence', `${formatTime(schedule.anchorAt)}, counted in ${schedule.timezone}`],
    ['Each cycle is open for', formatSeconds(schedule.windowSeconds)],
    ['Cycles used', <Num key="used" value={schedule.used} />],
    ['Cycles left', <Num key="remaining" value={schedule.remaining} />],
    ['A missed cycle', schedule.consumeMissed ? 'counts as used' : 'is made up for at the end'],
    ['Current cycle', cycleOf(schedule.currentCycle)],
    ['Last paid', <Time key="last" at={schedule.lastExecution?.executedAt} />],
    ['By token', <Id key="token" id={schedule.lastExecution?.jti} />],
    ['Set up', <Time key="created" at={schedule.createdAt} />],
    ['Set up by', schedule.createdBy.label ?? <Id key="by" id={schedule.createdBy.id} />],
    ['Last paused, resumed or cancelled', <Time key="changed" at={schedule.statusChangedAt} />],
    ['By', schedule.statusChangedBy?.label ?? <Id key="changer" id={schedule.statusChangedBy?.id} />],
  ],
  actions: (schedule) => (
    <>
      {schedule.status === 'active' && <Pause schedule={schedule} />}
      {schedule.status === 'paused' && <Resume schedule={schedule} />}
      {(schedule.status === 'active' || schedule.status === 'paused') && <Cancel schedule={schedule} />}
    </>
  ),
  children: (schedule) => <Next schedule={schedule} />,
  hasEvents: true,
}

export const Page = () => <Detail page={page} />

function cycleOf(cycle: Schedule['currentCycle']) {
  if (cycle === null) return <Nothing />
  const { cycle: number, opensAt, closesAt, jti } = cycle
  return `${number}, ${formatTime(opensAt)} to ${formatTime(closesAt)}${jti === null ? '' : ', paid'}`
}

function Next({ schedule: { scheduleId, status } }: { schedule: Schedule }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['schedule-preview', environment, scheduleId, status],
    queryFn: ({ signal }) => client.schedules.preview(scheduleId, { signal }),
  })
  const cycles = query.data?.cycles ?? []
  return (
    <Part title="Next cycles">
      {query.isPending && <Skeleton height={120} maw={520} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && cycles.length === 0 && <Text size="sm">No cycle is left.</Text>}
      {cycles.length > 0 && (
        <Facts facts={cycles.map(({ cycle, opensAt }) => [`Cycle ${cycle}`, formatTime(opensAt)])} />
      )}
    </Part>
  )
}
