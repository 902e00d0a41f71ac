import { useNow } from '../app/activity.ts'

/** What is left until a time, to the second. */
export function Countdown({ until }: { until: string }) {
  const left = Math.max(0, Math.ceil((Date.parse(until) - useNow(1_000)) / 1_000))
  const parts = [Math.floor(left / 86_400), Math.floor(left / 3_600) % 24, Math.floor(left / 60) % 60, left % 60]
  const [days = 0, ...clock] = parts
  const time = clock.map((part) => `${part}`.padStart(2, '0')).join(':')
  return (
    <time dateTime={until} title={new Date(until).toLocaleString()}>
      {left === 0 ? 'over' : days === 0 ? time : `${days} d ${time}`}
    </time>
  )
}
