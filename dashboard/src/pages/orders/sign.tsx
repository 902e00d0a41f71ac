// A signature in two steps: the challenge, with the prescriber and the statement that the law wants the signer to see, and then
// the passkey. The challenge is for exactly what the page shows: for anything else nothing is signed.

import { CountersignError, type OrderChallenge } from '@countersign/client'
import { Alert, Anchor, Button, Card, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../app/session.tsx'
import { Countdown } from '../../parts/countdown.tsx'
import { Failed } from '../../parts/failed.tsx'
import { NotSigned, signChallenge } from '../../parts/passkey.ts'
import { useRest } from '../../parts/rest.ts'
import { StillWaiting, useOnceKey } from '../../parts/send.tsx'
import { Verbatim } from '../../parts/verbatim.tsx'
import { type Proved, prove } from './proof.ts'

interface SignProps {
  proved: Proved
  act: 'sign' | 'cosign'
  /** What the page is to show from now on. */
  onRead(proved: Proved): void
}

/** The order is no longer what the page shows: nothing was signed. */
class Outdated extends Error {}

export function Sign({ proved, act, onRead }: SignProps) {
  const { order, hash } = proved
  const { orderId } = order
  const client = useClient()
  const [challenge, setChallenge] = useState<OrderChallenge>()
  const { isResting, isRestingNow } = useRest(challenge?.challengeId ?? hash)
  const { keyOf, renew } = useOnceKey()
  const needsPasskey = act === 'cosign' || order.needs.passkey
  const verb = act === 'sign' ? 'Sign' : 'Co-sign'

  const readAgain = async () => onRead(await prove(await client.clinical.orders.retrieve(orderId)))
  const begin = useMutation({
    mutationFn: async () => {
      const begun = await client.clinical.orderChallenges.create(orderId, { act })
      const now = await prove(begun.order)
      if (!now.isGenuine || now.hash !== hash || begun.orderHash !== hash || begun.act !== act) {
        onRead(now)
        throw new Outdated()
      }
      return begun
    },
    onSuccess: setChallenge,
  })
  const finish = useMutation({
    mutationFn: async (begun: OrderChallenge) => {
      const passkeyAssertion = needsPasskey ? await signChallenge(begun) : undefined
      const options = { idempotencyKey: keyOf([act, passkeyAssertion ?? begun.challengeId]) }
      const { orders } = client.clinical
      return passkeyAssertion !== undefined && act === 'cosign'
        ? orders.cosign(orderId, { passkeyAssertion }, options)
        : orders.sign(orderId, { passkeyAssertion }, options)
    },
    onSuccess: async (signed) => onRead(await prove(signed)),
    onError: async (error) => {
      if (!(error instanceof CountersignError)) return
      // The service uses a challenge once, and refuses it after an edit.
      setChallenge(undefined)
      await readAgain().catch(() => undefined)
    },
    onSettled: renew,
  })
  const isBusy = begin.isPending || finish.isPending
  const press = () => {
    if (isRestingNow() || isBusy) return
    if (challenge === undefined) begin.mutate()
    else finish.mutate(challenge)
  }
  return (
    <Card withBorder component="section" aria-label="Signature">
      <Stack gap="sm">
        {challenge === undefined ? (
          <Text size="sm">
            {act === 'sign'
              ? 'Its prescriber signs it. The next step shows the statement that you sign.'
              : 'A second clinician co-signs it. The next step shows the statement that you sign.'}{' '}
            {needsPasskey && (
              <>
                It takes a passkey of yours. <Anchor href="/passkeys">Your passkeys</Anchor>
              </>
            )}
          </Text>
        ) : (
          <Statement challenge={challenge} />
        )}
        <Problem error={finish.error ?? begin.error} />
        <StillWaiting isPending={isBusy} />
        <Group justify="flex-end">
          {challenge !== undefined && (
            <Button variant="default" disabled={finish.isPending} onClick={() => setChallenge(undefined)}>
              Back
            </Button>
          )}
          <Button disabled={isResting || isBusy} loading={isBusy} onClick={press}>
            {challenge === undefined ? `${verb} this order` : needsPasskey ? `${verb} with a passkey` : `${verb} now`}
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}

function Statement({ challenge: { prescriber, statement, expiresAt } }: { challenge: OrderChallenge }) {
  const { first, last, npi, deaNumbers } = prescriber
  return (
    <>
      <Text size="sm">
        Prescriber: <Verbatim text={`${first} ${last}`} />, NPI <Verbatim text={npi} />,{' '}
        {deaNumbers.length === 0 ? 'no confirmed DEA registration' : `DEA ${deaNumbers.join(', ')}`}
      </Text>
      <Alert title={`Statement ${statement.version}, 21 CFR 1311.140(a)(3)`}>
        <Verbatim text={statement.text} />
      </Alert>
      <Text size="sm" c="dimmed">
        Time left: <Countdown until={expiresAt} />
      </Text>
    </>
  )
}

function Problem({ error }: { error: Error | null }) {
  if (error === null) return null
  if (error instanceof Outdated || error instanceof NotSigned) {
    return (
      <Alert color="yellow" role="alert" title="Nothing was signed">
        {error instanceof NotSigned ? error.message : 'The order is not what this page showed any more. Read it again.'}
      </Alert>
    )
  }
  return <Failed error={error} />
}
