// A secret that the service shows once: its answer is nowhere else.

import { ActionIcon, Alert, Code, CopyButton, Group, Stack, Text } from '@mantine/core'
import { Check, Copy } from 'lucide-react'

interface SecretProps {
  /** What it is: `API key`. */
  title: string
  /** Undefined where the answer repeats an earlier one, which had it. */
  value: string | undefined
  about?: string
}

export function Secret({ title, value, about }: SecretProps) {
  if (value === undefined) {
    return (
      <Alert color="yellow" title="It was shown before">
        The service shows a secret once. Make another one where it was not kept.
      </Alert>
    )
  }
  return (
    <Stack gap="xs">
      <Text size="sm">{about ?? 'Keep it now: it is shown once, and can not be read again.'}</Text>
      <CopyLine label={title} value={value} />
    </Stack>
  )
}

/** A text with a button that copies it. */
export function CopyLine({ label, value }: { label: string; value: string }) {
  return (
    <Group gap="xs" wrap="nowrap" align="center">
      <Code style={{ overflowWrap: 'anywhere' }} aria-label={label} role="textbox" aria-readonly tabIndex={0}>
        {value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <ActionIcon variant="default" aria-label={copied ? 'Copied' : `Copy: ${label}`} onClick={copy}>
            {copied ? <Check size={14} /> : <Copy size={14} />}
          </ActionIcon>
        )}
      </CopyButton>
    </Group>
  )
}
