// What an approval is about besides its action: who asks, which rules want it, what its mandate has left, and who has decided.

import type { Actor, Approval, Mandate } from '@countersign/client'
import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useNow } from '../../app/activity.ts'
import { useSession } from '../../app/session.tsx'
import { formatTime } from '../../parts/measures.ts'
import { Id, Time } from '../../parts/values.tsx'
import { Verbatim } from '../../parts/verbatim.tsx'

type Row = readonly [name: string, value: ReactNode]

/** Who asks, which rules want a person, and what the mandate has left: to be read before a decision. */
export function WhyFacts({ approval, mandate }: { approval: Approval; mandate: Mandate | undefined }) {
  const { requestedBy, authorizedBy, rules, rulesOmitted } = approval
  return (
    <Rows
      rows={[
        ['Asked for by', <Name key="asker" actor={requestedBy ?? authorizedBy} />],
        ...rules.map(
          ({ ruleId, description }): Row => [
            'Rule of the policy',
            <Rule key={ruleId} ruleId={ruleId} description={description} />,
          ],
        ),
        ['Further rules of the policy', rulesOmitted === 0 ? null : rulesOmitted],
        ['What the mandate is for', mandate === undefined ? null : <Verbatim key="for" text={mandate.description} />],
        ['Left of its budgets', leftOf(mandate)],
      ]}
    />
  )
}

export function FurtherFacts({ approval }: { approval: Approval }) {
  const { agentId, agentSessionId, deviceId, requestedBy, authorizedBy, scheduleId, mandateId, jti } = approval
  const { minApprovals, roles, requirePasskey, missing } = approval
  const left = missing.map((group) => `${group.approvals} with the role ${group.roles.join(' or ')}`).join(', and ')
  return (
    <Rows
      rows={[
        ['Authorized by', requestedBy === null ? null : <Name key="by" actor={authorizedBy} />],
        ['Agent', agentId === null ? 'not registered' : <Id key="agent" id={agentId} />],
        ['Agent session', <Verbatim key="session" text={agentSessionId} />],
        ['Device', <Verbatim key="device" text={deviceId} />],
        ['Mandate', mandateId === null ? null : <Id key="mandate" id={mandateId} />],
        ['Schedule', scheduleId === null ? null : <Id key="schedule" id={scheduleId} />],
        ['Needed', `${minApprovals} with the role ${roles.join(' or ')}${requirePasskey ? ', with a passkey' : ''}`],
        ['Still missing', left === '' ? null : left],
        ['Asked', <Time key="asked" at={approval.createdAt} />],
        ['Expires', formatTime(approval.expiresAt)],
        ['Token', <Id key="jti" id={jti} />],
      ]}
    />
  )
}

/** One below the other, for a phone. */
function Rows({ rows }: { rows: readonly Row[] }) {
  return (
    <Stack component="dl" gap={6} m={0}>
      {rows
        .filter(([, value]) => value !== null)
        .map(([name, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several rules have the same name
          <div key={index}>
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Text>
          </div>
        ))}
    </Stack>
  )
}

function Rule({ ruleId, description }: { ruleId: string; description: string | null }) {
  return <Verbatim text={description === null ? ruleId : `${description} (${ruleId})`} />
}

function leftOf(mandate: Mandate | undefined): string | null {
  if (mandate === undefined || mandate.remaining === null) return null
  const { remaining, status, budget, constraints } = mandate
  const currency = budget?.currency ?? constraints.currency ?? ''
  return `${remaining} ${currency}`.trim() + (status === 'active' ? '' : `; the mandate is ${status}`)
}

export function Votes({ approval: { decisions } }: { approval: Approval }) {
  if (decisions.length === 0) return <Text size="sm">None yet.</Text>
  return (
    <Stack gap={6}>
      {decisions.map(({ by, via, decision, comment, at }) => (
        <div key={`${by.id} ${via} ${at}`}>
          <Text size="sm">
            <Name actor={by} /> {decision === 'approve' ? 'approved' : 'denied'}
            {VIA[via] ?? ''}, <Time at={at} />
          </Text>
          {comment !== null && (
            <Text size="sm" pl="sm">
              “<Verbatim text={comment} />”
            </Text>
          )}
        </div>
      ))}
    </Stack>
  )
}

const VIA: Record<string, string> = { passkey: ' with a passkey', api_key: ' through an API key' }

function Name({ actor }: { actor: Actor }) {
  const { session } = useSession()
  if (actor.id === session.user.userId) return 'You'
  return <Verbatim text={actor.label ?? actor.id ?? actor.type} />
}

/** How long something can still be decided, by the second when it is short. */
export function TimeLeft({ at }: { at: string }) {
  const now = useNow(1_000)
  const seconds = Math.max(0, Math.ceil((Date.parse(at) - now) / 1_000))
  const isShort = seconds < 120
  return (
    <Text span inherit fw={600} c={isShort ? 'red' : undefined}>
      {wordsOf(seconds)}
    </Text>
  )
}

function wordsOf(seconds: number): string {
  if (seconds === 0) return 'no time left'
  const [size, unit] = STEPS.find(([, , below]) => seconds < below) ?? [86_400, 'day']
  const count = Math.floor(seconds / size)
  return `${count} ${unit}${count === 1 ? '' : 's'} left`
}

const STEPS: readonly [size: number, unit: string, below: number][] = [
  [1, 'second', 120],
  [60, 'minute', 7_200],
  [3_600, 'hour', 172_800],
]
