// The decision about an approval: approve, with a passkey where the rule demands one, or deny with a reason. Before anything is
// signed the approval is read again: what is decided is what this page shows.

import type { Approval } from '@countersign/client'
import { Alert, Anchor, Button, Card, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { useClient } from '../../app/session.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Failed } from '../../parts/failed.tsx'
import { NotSigned, signChallenge } from '../../parts/passkey.ts'
import { useRest } from '../../parts/rest.ts'
import { StillWaiting, useOnceKey } from '../../parts/send.tsx'
import { type Proved, prove, readProved, subjectOf } from './action.ts'

const MAX_COMMENT = 1_000
const EMPTY = { comment: '' }

interface DecideProps {
  proved: Proved
  /** What the page is to show from now on. */
  onRead(proved: Proved): void
}

/** The approval is no longer what the page shows: nothing was sent. */
class Outdated extends Error {}

export function Decide({ proved, onRead }: DecideProps) {
  const { approvalId, requirePasskey } = proved.approval
  const client = useClient()
  const subject = subjectOf(proved)
  const { isResting, isRestingNow } = useRest(subject)
  const { draft, change, clear } = useDraft(`${approvalId}.comment`, EMPTY)
  const [isReasonMissing, setIsReasonMissing] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const { keyOf, renew } = useOnceKey()

  async function decide(decision: 'approve' | 'deny'): Promise<Approval> {
    const now = await readProved(client, approvalId)
    if (!now.isGenuine || subjectOf(now) !== subject || now.approval.status !== 'pending') {
      onRead(now)
      throw new Outdated()
    }
    const comment = draft.comment.trim()
    if (decision === 'deny') {
      return client.approvals.deny(approvalId, { reason: comment }, { idempotencyKey: keyOf(['deny', comment]) })
    }
    const passkeyAssertion = requirePasskey
      ? await signChallenge(await client.approvals.challenges.create(approvalId))
      : undefined
    const sent = { ...(comment === '' ? {} : { comment }), passkeyAssertion }
    return client.approvals.approve(approvalId, sent, { idempotencyKey: keyOf(['approve', sent]) })
  }
  const act = useMutation({
    mutationFn: decide,
    onSuccess: async (approval) => {
      renew()
      clear()
      onRead(await prove(approval))
    },
  })
  const press = (decision: 'approve' | 'deny') => {
    if (isRestingNow() || act.isPending) return
    const isMissing = decision === 'deny' && draft.comment.trim() === ''
    setIsReasonMissing(isMissing)
    if (isMissing) field.current?.focus()
    else act.mutate(decision)
  }
  const isOff = isResting || act.isPending
  return (
    <Card
      withBorder
      component="form"
      aria-label="Decision"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        press('approve')
      }}
    >
      <Stack gap="sm">
        {requirePasskey && (
          <Text size="sm">
            This rule wants a passkey of yours. <Anchor href="/passkeys">Your passkeys</Anchor>
          </Text>
        )}
        <Textarea
          ref={field}
          label="Comment"
          description="To deny, say why"
          autosize
          minRows={2}
          maxRows={8}
          maxLength={MAX_COMMENT}
          value={draft.comment}
          onChange={(event) => change({ comment: event.currentTarget.value })}
          error={isReasonMissing ? 'Say why: a denial has a reason.' : undefined}
        />
        <Problem error={act.error} />
        <StillWaiting isPending={act.isPending} />
        <Group grow>
          <Button
            variant="default"
            size="md"
            disabled={isOff}
            loading={act.isPending && act.variables === 'deny'}
            onClick={() => press('deny')}
          >
            Deny
          </Button>
          <Button type="submit" size="md" disabled={isOff} loading={act.isPending && act.variables === 'approve'}>
            {requirePasskey ? 'Approve with a passkey' : 'Approve'}
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}

function Problem({ error }: { error: Error | null }) {
  if (error === null) return null
  if (error instanceof Outdated) {
    return (
      <Alert color="yellow" role="alert" title="Nothing was decided">
        The approval is not what this page showed any more. Read it again.
      </Alert>
    )
  }
  if (error instanceof NotSigned) {
    return (
      <Alert color="yellow" role="alert" title="Nothing was decided">
        {error.message}
      </Alert>
    )
  }
  return <Failed error={error} />
}
