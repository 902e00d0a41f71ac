// `/share`: shows a shared trace, and asks for what it masks. The token leaves the address at once. The tab keeps it, with the request whose
// code is on its way, so that both are there after a reload.

import { CountersignError, type SharedView } from '@countersign/client'
import { Alert, Button, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { detailOf, stranger } from './ask.ts'
import { Frame } from './entry.tsx'
import { SharedTrace } from './shared-trace.tsx'

const KEPT = 'countersign.share'

interface Kept {
  token?: string | undefined
  requestId?: string | undefined
}

// Another link in the same tab changes the fragment alone.
window.addEventListener('hashchange', () => window.location.reload())
const given = take()

export default function Share() {
  const [{ token, requestId }, setKept] = useState(given)
  const [view, setView] = useState<SharedView>()
  const [message, setMessage] = useState(opening(given))
  const [isSent, setIsSent] = useState(false)
  const keep = (kept: Kept) => {
    setKept(kept)
    write(kept)
  }

  async function load(with_: Kept): Promise<void> {
    try {
      setView(await stranger.trace.shares.view({ shareToken: with_.token }))
      keep(with_)
      setMessage(with_.requestId === undefined ? '' : 'Enter the code of the mail, or ask for another one.')
    } catch (error) {
      const isGone = error instanceof CountersignError && error.code === 'not_found'
      if (isGone) keep({ requestId: with_.requestId })
      setMessage(isGone ? 'This link shows nothing: it has ended, or never was.' : detailOf(error))
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the share is read once, when the page opens
  useEffect(() => {
    if (given.token !== undefined) void load(given)
    else write(given)
  }, [])

  const open = async (values: Record<string, string>) => {
    const link = tokenOf(values.link?.trim() ?? '')
    if (link === undefined) setMessage('This is not a link of a share: it ends with # and 43 characters.')
    else await load({ token: link, requestId })
  }
  const request = async ({ email = '', purpose = '' }: Record<string, string>) => {
    try {
      const asked = await stranger.trace.disclosures.request(view?.shareId ?? '', {
        ...{ email, purpose, shareToken: token },
      })
      keep({ token, requestId: asked.requestId })
      setMessage('A code is on its way to you. It works for 15 minutes.')
    } catch (error) {
      setMessage(detailOf(error))
    }
  }
  const verify = async ({ code = '' }: Record<string, string>) => {
    try {
      const { status } = await stranger.trace.disclosures.verify(view?.shareId ?? '', requestId ?? '', {
        ...{ code, shareToken: token },
      })
      keep({ token })
      setIsSent(true)
      setMessage(
        status === 'granted'
          ? 'Granted: the mail that is on its way to you has a link of your own.'
          : 'Your request waits for a decision. If it is granted, you get a mail with a link of your own.',
      )
    } catch (error) {
      setMessage(detailOf(error))
    }
  }

  const mayAsk = view !== undefined && view.maskedNodes > 0 && view.disclosure === null && !isSent
  return (
    <Frame title="A shared trace" message={message}>
      {view === undefined && token === undefined && requestId !== undefined && (
        <Form onSend={open}>
          <TextInput label="The link of the share" name="link" autoComplete="off" spellCheck={false} required />
          <Button type="submit">Open it</Button>
        </Form>
      )}
      {view !== undefined && <SharedTrace view={view} />}
      {mayAsk && (
        <Stack component="section" gap="sm">
          <Title order={2} size="h4">
            See what is masked
          </Title>
          <Text size="sm">
            The account that shared the trace decides, or has decided that everybody with a verified address may. Each
            view is recorded.
          </Text>
          {requestId === undefined ? (
            <Form onSend={request} key="request">
              <TextInput
                label="Your e-mail address"
                name="email"
                type="email"
                autoComplete="email"
                maxLength={254}
                required
              />
              <Textarea label="What you need it for" name="purpose" maxLength={1_000} rows={3} required />
              <Button type="submit">Mail me a code</Button>
            </Form>
          ) : (
            <Form onSend={verify} key="verify">
              <TextInput
                label="The code of the mail"
                name="code"
                inputMode="numeric"
                autoComplete="one-time-code"
                pattern="[0-9]{8}"
                maxLength={8}
                required
              />
              <Group>
                <Button type="submit">Send the request</Button>
                <Button variant="default" onClick={() => keep({ token })}>
                  Ask for another code
                </Button>
              </Group>
            </Form>
          )}
        </Stack>
      )}
      {isSent && <Alert color="teal">Your request was sent.</Alert>}
    </Frame>
  )
}

function Form({
  onSend,
  children,
}: {
  onSend(values: Record<string, string>): Promise<void>
  children: React.ReactNode
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const values = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value)])
    void onSend(Object.fromEntries(values))
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">{children}</Stack>
    </form>
  )
}

function opening({ token, requestId }: Kept): string {
  if (token !== undefined) return ''
  return requestId === undefined
    ? 'This address is not a whole link. Open the link that you were given again.'
    : 'To enter the code of the mail, open the link of the share that you were given, or paste it here.'
}

/** From the address, which loses it, and from what the tab has kept. */
function take(): Kept {
  const { hash, pathname } = window.location
  const token = tokenOf(hash)
  const asked = /^#(dsr_(?:live|test)_[0-9a-z]{26})$/.exec(hash)?.[1]
  const kept = read()
  window.history.replaceState(null, '', pathname)
  // The link of another share has nothing to do with the request.
  const isSame = token === undefined || kept.token === undefined || kept.token === token
  return { token: token ?? kept.token, requestId: asked ?? (isSame ? kept.requestId : undefined) }
}

function tokenOf(text: string): string | undefined {
  return /#([A-Za-z0-9_-]{43})$/.exec(text)?.[1]
}

function read(): Kept {
  try {
    return JSON.parse(window.sessionStorage.getItem(KEPT) ?? '{}')
  } catch {
    return {}
  }
}

function write(kept: Kept): void {
  try {
    window.sessionStorage.setItem(KEPT, JSON.stringify(kept))
  } catch {
    // The browser keeps nothing: a reload begins anew.
  }
}
