// The decision about a case: what it can become, the reasons that hold with their sentences, and the note. The version
// that was read goes along, so that nobody decides on what another person has changed.

import type { Case, CaseOption, TransitionCaseRequest } from '@countersign/client'
import { CountersignError } from '@countersign/client'
import { Alert, Button, Card, Code, Group, Kbd, Radio, Stack, Text, Textarea } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, useState } from 'react'
import { useClient, useSession } from '../../app/session.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Failed } from '../../parts/failed.tsx'
import { useReasons } from '../../parts/reason.tsx'
import { StillWaiting, useOnceKey } from '../../parts/send.tsx'

// The API counts visible characters: a note of this length may still be refused, a shorter one always is.
const MIN_OTHER_NOTE = 10
const MAX_NOTE = 5_000
const EMPTY = { to: '', reason: '', note: '' }

interface DecisionProps {
  row: Case
  /** Reads the case again after another person changed it. */
  onStale(): Promise<void>
  onDecided(next: Case, goesOn: boolean): void
  /** Whether the case was opened from a queue. */
  hasNext: boolean
}

export function Decision({ row, onStale, onDecided, hasNext }: DecisionProps) {
  const { session, environment } = useSession()
  const client = useClient()
  const cache = useQueryClient()
  const { keyOf, renew } = useOnceKey()
  const { draft, change, clear } = useDraft(row.caseId, EMPTY)
  const [isTried, setIsTried] = useState(false)
  const { allowed, caseId, version } = row
  const option = allowed.find(({ to }) => to === draft.to) ?? (allowed.length === 1 ? allowed[0] : undefined)
  const reason = option?.reasonCodes.find((code) => code === draft.reason) ?? onlyOf(option?.reasonCodes)
  const problem = whatLacks(option, reason, draft.note)
  const note = draft.note.trim()

  const decide = useMutation({
    mutationFn: async (goesOn: boolean) => {
      if (option === undefined) throw new Error('nothing is chosen')
      const wish = {
        to: option.to,
        ...(reason === undefined ? {} : { reasonCode: reason }),
        ...(note === '' ? {} : { note }),
        version,
      } as TransitionCaseRequest
      const sent = client.cases.transition(caseId, wish, { idempotencyKey: keyOf(wish) })
      const { data: next, response } = await sent.withResponse()
      return { next, isProposed: response.status === 202, goesOn }
    },
    onSuccess: ({ next, isProposed, goesOn }) => {
      renew()
      clear()
      setIsTried(false)
      notifications.show({
        message: isProposed
          ? 'Proposed. Another person has to confirm it before the case is denied.'
          : `The case is ${words(next.status)} now.`,
      })
      onDecided(next, goesOn)
    },
    onError: async (error) => {
      if (!(error instanceof CountersignError)) return
      // The same content is another act after another answer.
      if (error.status > 0 && error.status < 500) renew()
      if (error.status === 409) await onStale()
      if (error.status === 403) await cache.invalidateQueries({ queryKey: ['session', environment] })
    },
  })
  const isStale = decide.error instanceof CountersignError && decide.error.errors.some(({ code }) => code === 'stale')
  const submit = (goesOn: boolean) => {
    setIsTried(true)
    if (problem === undefined && !decide.isPending) decide.mutate(goesOn)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    submit(hasNext && option?.to !== 'in_review')
  }
  if (allowed.length === 0) {
    return (
      <Card withBorder>
        <Text size="sm">Nothing can be decided about this case with your role.</Text>
      </Card>
    )
  }
  // Who starts a review stays with the case.
  const hasBoth = hasNext && option !== undefined && option.to !== 'in_review'
  const verb = option === undefined ? 'Decide' : (VERBS[option.to] ?? words(option.to))
  return (
    <Card
      withBorder
      component="form"
      aria-label="Decision"
      onKeyDown={onKeyDown}
      onSubmit={(event) => event.preventDefault()}
    >
      <Stack gap="sm">
        <Radio.Group
          label="Decision"
          value={option?.to ?? ''}
          onChange={(to) => change({ to, reason: '' })}
          error={isTried && option === undefined ? problem : undefined}
        >
          <Group gap="sm" mt={4}>
            {allowed.map(({ to }) => (
              <Radio key={to} value={to} label={VERBS[to] ?? words(to)} />
            ))}
          </Group>
        </Radio.Group>
        {option !== undefined && option.reasonCodes.length > 0 && (
          <Reasons
            codes={option.reasonCodes}
            value={reason ?? ''}
            onChange={(chosen) => change({ to: option.to, reason: chosen })}
            error={isTried && reason === undefined ? problem : undefined}
          />
        )}
        {option !== undefined && (
          <SecondPerson
            option={option}
            reason={reason}
            suspectedBy={row.fraudSuspectedBy}
            ownId={session.user.userId}
          />
        )}
        <Textarea
          label="Note"
          description={noteHint(option, reason)}
          required={isNoteNeeded(option, reason)}
          autosize
          minRows={3}
          maxRows={12}
          maxLength={MAX_NOTE}
          value={draft.note}
          onChange={(event) => change({ note: event.currentTarget.value })}
          error={isTried && option !== undefined && reason !== null ? problem : undefined}
        />
        {decide.isError && !isStale && <Failed error={decide.error} />}
        <StillWaiting isPending={decide.isPending} />
        <Group gap="xs">
          <Button
            size="sm"
            variant={hasBoth ? 'default' : 'filled'}
            loading={decide.isPending && !decide.variables}
            disabled={decide.isPending}
            onClick={() => submit(false)}
          >
            {verb}
          </Button>
          {hasBoth && (
            <Button
              size="sm"
              loading={decide.isPending && decide.variables}
              disabled={decide.isPending}
              onClick={() => submit(true)}
            >
              {verb} and next
            </Button>
          )}
          <Text size="xs" c="dimmed" visibleFrom="sm">
            <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Enter</Kbd> here
          </Text>
        </Group>
      </Stack>
    </Card>
  )
}

interface ReasonsProps {
  codes: readonly string[]
  value: string
  onChange(code: string): void
  error: string | undefined
}

function Reasons({ codes, value, onChange, error }: ReasonsProps) {
  const reasons = useReasons()
  return (
    <Radio.Group label="Reason" required value={value} onChange={onChange} error={error}>
      <Stack gap={6} mt={4}>
        {codes.map((code) => (
          <Radio key={code} value={code} label={<Code>{code}</Code>} description={reasons.get(code)?.meaning} />
        ))}
      </Stack>
    </Radio.Group>
  )
}

interface SecondPersonProps {
  option: CaseOption
  reason: string | undefined
  suspectedBy: Case['fraudSuspectedBy']
  ownId: string
}

/** Who else must confirm a denial for suspected fraud. */
function SecondPerson({ option, reason, suspectedBy, ownId }: SecondPersonProps) {
  if (!option.needsSecondPerson || reason !== 'suspected_fraud') return null
  if (suspectedBy === null) {
    return <Alert>It takes two persons: you propose the denial, and another person has to confirm it.</Alert>
  }
  if (suspectedBy.id === ownId) {
    return <Alert color="yellow">You have named the fraud already: the denial needs another person.</Alert>
  }
  return <Alert>{suspectedBy.label ?? suspectedBy.type} has named the fraud: with you the case is denied.</Alert>
}

/** What is missing before it can be sent; undefined: nothing. */
function whatLacks(option: CaseOption | undefined, reason: string | undefined, note: string): string | undefined {
  if (option === undefined) return 'Choose what the case becomes.'
  if (option.reasonCodes.length > 0 && reason === undefined) return 'Choose a reason.'
  const length = note.trim().length
  if (reason === 'other' && length < MIN_OTHER_NOTE) {
    return `The reason other needs a note of at least ${MIN_OTHER_NOTE} characters.`
  }
  return option.needsNote && length === 0 ? 'It needs a note.' : undefined
}

function isNoteNeeded(option: CaseOption | undefined, reason: string | undefined): boolean {
  return option?.needsNote === true || reason === 'other'
}

function noteHint(option: CaseOption | undefined, reason: string | undefined): string {
  if (reason === 'other') return `At least ${MIN_OTHER_NOTE} characters, as the reason is other`
  if (option?.to === 'info_requested') return 'What the policyholder is asked for'
  return 'Kept in the history of the case'
}

function onlyOf(codes: CaseOption['reasonCodes'] | undefined) {
  return codes?.length === 1 ? codes[0] : undefined
}

const words = (code: string) => code.replaceAll('_', ' ')

const VERBS: Record<string, string> = {
  in_review: 'Start the review',
  info_requested: 'Ask for information',
  escalated: 'Escalate',
  approved: 'Approve',
  denied: 'Deny',
  withdrawn: 'Withdraw',
  closed_undecided: 'Close undecided',
}
