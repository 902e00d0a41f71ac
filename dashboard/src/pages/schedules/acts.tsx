// Pauses, resumes and cancels a schedule, each after a second step.

import type { Schedule } from '@countersign/client'
import { Act } from '../../parts/act.tsx'
import { Consequence } from '../../parts/consequence.tsx'

interface ScheduleProps {
  schedule: Schedule
}

export function Pause({ schedule: { scheduleId, counterparty } }: ScheduleProps) {
  return (
    <Act
      title="Pause"
      permission="schedules.write"
      name={`${scheduleId}.pause`}
      isDangerous
      about="A schedule that is paused can be resumed."
      review={() => (
        <Consequence title={`${counterparty} is not paid while it is paused`}>
          From the next decision on, every payment under this schedule is refused. Cycles go by meanwhile.
        </Consequence>
      )}
      send={(client, _, options) => client.schedules.pause(scheduleId, options)}
    />
  )
}

export function Resume({ schedule: { scheduleId, counterparty } }: ScheduleProps) {
  return (
    <Act
      title="Resume"
      permission="schedules.write"
      name={`${scheduleId}.resume`}
      about="Payments under this schedule are possible again, from the next decision on."
      review={() => (
        <Consequence title={`${counterparty} can be paid again`} isHarmless>
          A cycle that is open now can be paid at once.
        </Consequence>
      )}
      send={(client, _, options) => client.schedules.resume(scheduleId, options)}
    />
  )
}

export function Cancel({ schedule: { scheduleId, counterparty } }: ScheduleProps) {
  return (
    <Act
      title="Cancel the schedule"
      permission="schedules.write"
      name={`${scheduleId}.cancel`}
      isDangerous
      about="A schedule that is cancelled can not be resumed. To stop it for a while, pause it."
      review={() => (
        <Consequence title={`${counterparty} is never paid again by this schedule`}>
          It ends permanently, from the next decision on. To pay again, set up another schedule.
        </Consequence>
      )}
      send={(client, _, options) => client.schedules.cancel(scheduleId, options)}
    />
  )
}
