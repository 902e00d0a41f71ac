// Checks the signature of a delivery in the browser, by the library that receivers use. Nothing of it is sent or kept.

import { type SignatureReason, verifyWebhookSignature } from '@countersign/client/verify'
import { Alert, Button, PasswordInput, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Part } from '../../recipe/detail-page.tsx'

const REASONS: Record<SignatureReason, string> = {
  missing_header: 'There is no signature: copy the value of the header Service-Signature.',
  malformed_header: 'The header has another form than t=<seconds>,v1=<hexadecimal>.',
  no_v1_signature: 'The header has no signature of the version v1.',
  timestamp_out_of_tolerance: 'The time in the header is more than 5 minutes away.',
  signature_mismatch:
    'The secret or the body is another one. The body has to be the bytes as they came, before anything parses them.',
  invalid_json: 'The signature is right, and the body is no JSON.',
}

type Verdict = { isValid: boolean; text: string }

export function VerifySignature() {
  const [secret, setSecret] = useState('')
  const [header, setHeader] = useState('')
  const [body, setBody] = useState('')
  const [verdict, setVerdict] = useState<Verdict>()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setVerdict(await judge(secret.trim(), header.trim(), body))
  }
  return (
    <Part title="Verify a signature">
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap="xs" maw={640}>
          <Text size="sm" c="dimmed">
            By the library, in this browser: the secret is not sent and not kept.
          </Text>
          <PasswordInput
            label="Signing secret"
            required
            autoComplete="off"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the secret' }}
            value={secret}
            onChange={(event) => setSecret(event.currentTarget.value)}
          />
          <TextInput
            label="Service-Signature"
            description="The header, as it came"
            required
            value={header}
            onChange={(event) => setHeader(event.currentTarget.value)}
          />
          <Textarea
            label="Body"
            description="Exactly as it came"
            required
            rows={5}
            ff="monospace"
            value={body}
            onChange={(event) => setBody(event.currentTarget.value)}
          />
          <Button type="submit" size="xs" variant="default" style={{ alignSelf: 'flex-start' }}>
            Verify
          </Button>
          {verdict !== undefined && (
            <Alert
              color={verdict.isValid ? 'green' : 'red'}
              role="status"
              title={verdict.isValid ? 'Valid' : 'Not valid'}
            >
              {verdict.text}
            </Alert>
          )}
        </Stack>
      </form>
    </Part>
  )
}

async function judge(secret: string, header: string, body: string): Promise<Verdict> {
  const headers = { 'service-signature': header }
  const verdict = await verifyWebhookSignature(body, headers, secret)
  if (verdict.valid) return { isValid: true, text: 'The body was signed with this secret, within the last 5 minutes.' }
  if (verdict.reason !== 'timestamp_out_of_tolerance') return { isValid: false, text: REASONS[verdict.reason] }
  // Attempts of the log are older: whether the secret is right can be said all the same.
  const then = Number(/(?:^|,)t=(\d+)/.exec(header)?.[1])
  const old = await verifyWebhookSignature(body, headers, secret, { now: then })
  return old.valid
    ? {
        isValid: true,
        text: 'The body was signed with this secret. It is older than 5 minutes, so a receiver refuses it now.',
      }
    : { isValid: false, text: REASONS[old.reason] }
}
