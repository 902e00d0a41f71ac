// I1 and I6 for screenings: each one that was requested exists once, agrees with the detector, and was emitted once.

import type { Finding } from './check.ts'
import { isSuccess, scopeOf } from './check-intake.ts'
import { scoreOf } from './detector.ts'
import type { Evidence } from './evidence.ts'
import { groupBy } from './group.ts'

export function checkScreenings(evidence: Evidence): Finding[] {
  return [
    ...checkRows(evidence).map((what): Finding => ({ invariant: 'I1', what })),
    ...checkScores(evidence).map((what): Finding => ({ invariant: 'I6', what })),
  ]
}

// Clients request each photo once, and repeat that under its key.
function checkRows({ asked, answered, screenings }: Evidence): string[] {
  const wrong: string[] = []
  const answers = groupBy(answered, ({ n }) => String(n))
  const rows = groupBy(screenings, ({ scope, sha256 }) => `${scope} ${sha256}`)
  const requests = groupBy(
    asked.filter(({ op }) => op === 'screen'),
    (request) => `${scopeOf(request)} ${request.sha256}`,
  )
  for (const [photo, tries] of requests) {
    const own = rows.get(photo) ?? []
    const told = tries.flatMap(({ n }) => answers.get(String(n)) ?? []).filter(isSuccess)
    if (own.length > 1) wrong.push(`${photo} is screened ${own.length} times: ${own.map(({ id }) => id).join(' ')}`)
    if (own.length === 0 && told.length > 0) wrong.push(`lost: the screening of ${photo} was answered and is not there`)
    for (const { screeningId } of told) {
      if (own[0] !== undefined && screeningId !== own[0].id) {
        wrong.push(`the screening of ${photo} is ${own[0].id}, and was called ${screeningId}`)
      }
    }
  }
  for (const [photo, own] of rows) {
    if (!requests.has(photo)) wrong.push(`phantom: no request asked for ${own[0]?.id}`)
  }
  return wrong
}

function checkScores({ screenings, events, looked }: Evidence): string[] {
  const seen = new Set(looked.filter(({ isAnswered }) => isAnswered).map(({ sha256 }) => sha256))
  const told = groupBy(
    events.filter(({ type }) => type === 'screening.completed'),
    ({ data }) => String(data.screening_id),
  )
  return screenings.flatMap(({ id, sha256, status, genaiScore }) => {
    // I2 covers every screening that did not succeed.
    if (status !== 'scored') return []
    const wrong: string[] = []
    if (!seen.has(sha256)) wrong.push(`${id} has a score, and the detector never gave one`)
    if (genaiScore !== scoreOf(sha256)) wrong.push(`${id} has ${genaiScore}, the detector said ${scoreOf(sha256)}`)
    const events = told.get(id) ?? []
    if (events.length !== 1) wrong.push(`screening.completed happened ${events.length} times for ${id}`)
    for (const { data } of events) {
      if (data.genai_score !== genaiScore) wrong.push(`the event of ${id} says ${data.genai_score}`)
    }
    return wrong
  })
}

/** Pictures that the detector was asked about, and how often it was asked again about one that it had answered. */
export function countLooks({ looked }: Pick<Evidence, 'looked'>): { pictures: number; again: number } {
  let again = 0
  const answered = new Set<string>()
  for (const { sha256, isAnswered } of looked) {
    if (answered.has(sha256)) again += 1
    if (isAnswered) answered.add(sha256)
  }
  return { pictures: answered.size, again }
}
