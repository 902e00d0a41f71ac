// `/login/invite`: accepts an invite after a press of the button, and closes an own account only after another one.

import { CountersignError } from '@countersign/client'
import { Anchor, Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { announceSession } from '../app/session-end.ts'
import { detailOf, isRefusedAt, visitor } from './ask.ts'
import { Frame, takeToken } from './entry.tsx'

const { token } = takeToken()

export default function Invite() {
  const [step, setStep] = useState<'accept' | 'close' | 'signed in' | 'over'>(token === undefined ? 'over' : 'accept')
  const [message, setMessage] = useState(
    token === undefined ? 'This address is not a whole link. Open the link of the mail again.' : '',
  )
  const [isBusy, setIsBusy] = useState(false)

  async function accept(closeOwnAccount: boolean): Promise<void> {
    setIsBusy(true)
    try {
      const sent = { token: token ?? '', ...(closeOwnAccount && { closeOwnAccount }) }
      const { user, role, account } = await visitor.org.invites.accept(sent)
      announceSession()
      setStep('signed in')
      setMessage(`You are signed in as ${user.email}, ${role} of ${account.name}.`)
    } catch (error) {
      refuse(error)
    }
    setIsBusy(false)
  }

  function refuse(error: unknown): void {
    if (isRefusedAt(error, '/token')) {
      setStep('over')
      setMessage('This invite does not work any more. Ask for another one.')
      return
    }
    // Without the invite's use: another try may succeed.
    const isOwner = error instanceof CountersignError && error.errors[0]?.code === 'confirmation_required'
    setStep(isOwner ? 'close' : 'accept')
    setMessage(isOwner ? 'You own another account.' : detailOf(error))
  }

  return (
    <Frame title="Accept an invite" message={message}>
      {step === 'accept' && (
        <Stack gap="sm">
          <Text size="sm">You become a user of the account that invited you, and this device is signed in.</Text>
          <Button loading={isBusy} onClick={() => void accept(false)}>
            Accept the invite
          </Button>
        </Stack>
      )}
      {step === 'close' && (
        <Stack gap="sm">
          <Text size="sm">
            An address has one account. With this button you leave your own account: it is closed, and erased 30 days
            after its closure.
          </Text>
          <Button color="red" loading={isBusy} onClick={() => void accept(true)}>
            Close my own account and accept the invite
          </Button>
        </Stack>
      )}
      {step === 'signed in' && (
        <Button component="a" href="/app">
          Open the dashboard
        </Button>
      )}
      {step !== 'signed in' && <Anchor href="/login/link">Sign in or out</Anchor>}
    </Frame>
  )
}
