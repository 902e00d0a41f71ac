// The risk policy: its rules as sentences beside its JSON, what is wrong with a draft, which claims it would change, and
// who made each version. A draft is kept until it is published.

import { CountersignError, type RiskPolicy } from '@countersign/client'
import { Alert, Button, Group, List, Modal, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useClient, useSession } from '../../app/session.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { JsonEditor } from '../../parts/json-editor.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { StillWaiting, useOnceKey } from '../../parts/send.tsx'
import { Id, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { Comparison } from './comparison.tsx'
import { findingsOf, parse, sentencesOf, textOf } from './document.ts'
import { DryRun } from './dry-run.tsx'
import { Versions } from './versions.tsx'

const EMPTY = { text: '', base: '' }
const NO_FINDINGS: { pointer: string; text: string }[] = []
// A person who still types is not told about half a word.
const PAUSE_MS = 600

export function Page() {
  const { may } = useSession()
  return may('policy.read') ? <Loaded /> : <Forbidden permission="policy.read" />
}

function Loaded() {
  const client = useClient()
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['risk-policy', environment],
    queryFn: ({ signal }) => client.account.riskPolicy.retrieve({ signal }),
  })
  return (
    <Stack>
      <Title order={1} size="h3">
        Risk policy
      </Title>
      {query.isPending && <Skeleton height={360} role="status" aria-label="Loading" />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data !== undefined && <Editor current={query.data} />}
    </Stack>
  )
}

function Editor({ current }: { current: RiskPolicy }) {
  const client = useClient()
  const cache = useQueryClient()
  const { environment, may } = useSession()
  const { draft, change, clear } = useDraft('risk-policy', EMPTY)
  const text = draft.text === '' ? textOf(current.document) : draft.text
  // A draft replaces the version that it began with, and no later one.
  const base = draft.base === '' ? `${current.version}` : draft.base
  const document = parse(text)
  const isChanged = document === undefined || JSON.stringify(document) !== JSON.stringify(current.document)
  const edit = (next: string) => change({ text: next, base })
  const check = useChecked(text, isChanged)
  const [isPublishing, publishing] = useDisclosure()
  const { keyOf, renew } = useOnceKey()
  const publish = useMutation({
    mutationFn: () =>
      client.account.riskPolicy.update(
        { document: document ?? current.document, ifMatch: `"${base}"` },
        { idempotencyKey: keyOf([text, base]) },
      ),
    onSuccess: async (published) => {
      renew()
      publishing.close()
      cache.setQueryData(['risk-policy', environment], published)
      clear()
      await cache.invalidateQueries({ queryKey: ['risk-policy-versions', environment] })
    },
    onError: async (error) => {
      if (!isOutdated(error)) return
      publishing.close()
      await cache.invalidateQueries({ queryKey: ['risk-policy', environment] })
    },
  })
  const isOvertaken = base !== `${current.version}`
  const isBroken = document === undefined || check.findings.length > 0
  const mayWrite = may('policy.write')
  return (
    <>
      <Text size="sm">
        {current.version === 0 ? (
          'The defaults apply: no policy was set yet.'
        ) : (
          <>
            Version {formatNumber(current.version)}, <Time at={current.changedAt} /> by{' '}
            {current.changedBy?.label ?? <Id id={current.changedBy?.id} />}.
          </>
        )}
      </Text>
      {isOvertaken && (
        <Comparison
          mine={document}
          base={base}
          current={current}
          onKeep={() => {
            publish.reset()
            change({ text, base: `${current.version}` })
          }}
          onTake={() => {
            publish.reset()
            clear()
          }}
        />
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Stack gap="xs">
          <JsonEditor
            label="The policy as JSON"
            value={text}
            onChange={edit}
            findings={check.findings}
            isReadOnly={!mayWrite}
          />
          <Findings isJson={document !== undefined} findings={check.findings} />
          {check.error !== undefined && <Failed error={check.error} />}
        </Stack>
        <Part title="What it says">
          <List size="sm" spacing={4}>
            {(document === undefined ? [] : sentencesOf(document)).map((sentence) => (
              <List.Item key={sentence}>{sentence}</List.Item>
            ))}
          </List>
          {mayWrite && (
            <Group gap="xs" mt="md">
              <Button size="xs" disabled={!isChanged || isBroken || isOvertaken} onClick={publishing.open}>
                Publish
              </Button>
              <Button size="xs" variant="default" disabled={draft.text === ''} onClick={clear}>
                Discard the draft
              </Button>
            </Group>
          )}
        </Part>
      </SimpleGrid>
      {document !== undefined && check.findings.length === 0 && <DryRun document={document} isChanged={isChanged} />}
      <Versions current={current} onUse={(version) => edit(textOf(version.document))} />
      <Modal opened={isPublishing} onClose={publishing.close} title={`Publish in ${environment}`} size="lg">
        <Stack>
          {document !== undefined && <Sentences sentences={sentencesOf(document)} />}
          <Text size="sm">
            It applies to every later result. Earlier results that it judges differently are evaluated again: see
            Re-evaluations. The dry run shows which claims change.
          </Text>
          {environment === 'live' && <Alert color="red">This is the live environment.</Alert>}
          {publish.isError && !isOutdated(publish.error) && <Failed error={publish.error} />}
          <StillWaiting isPending={publish.isPending} />
          <Group justify="flex-end">
            <Button variant="default" onClick={publishing.close}>
              Cancel
            </Button>
            <Button loading={publish.isPending} onClick={() => publish.mutate()}>
              Publish
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

const isOutdated = (error: unknown) => error instanceof CountersignError && error.status === 412

function Sentences({ sentences }: { sentences: readonly string[] }) {
  return sentences.map((sentence) => (
    <Text size="sm" key={sentence}>
      {sentence}
    </Text>
  ))
}

function Findings({ isJson, findings }: { isJson: boolean; findings: readonly { pointer: string; text: string }[] }) {
  return (
    <div role="status" aria-label="Findings">
      {!isJson && <Text size="sm">It is no JSON object yet.</Text>}
      {findings.map(({ pointer, text }) => (
        <Text size="sm" key={`${pointer}${text}`}>
          {pointer === '' ? 'The policy' : pointer.slice(1).replaceAll('/', '.')} {text}
        </Text>
      ))}
    </div>
  )
}

/** What the API finds about a text: a dry run over no claims reads the document as publishing does. */
function useChecked(text: string, isChanged: boolean) {
  const client = useClient()
  const { environment } = useSession()
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const document = parse(settled)
  const { data, error } = useQuery({
    queryKey: ['risk-policy-check', environment, settled],
    queryFn: async () => {
      if (document === undefined) return NO_FINDINGS
      try {
        const never = '9000-01-01T00:00:00Z'
        await client.account.riskPolicy.dryRun({ document, createdGte: never, limit: 1 })
        return NO_FINDINGS
      } catch (cause) {
        const findings = findingsOf(cause)
        if (findings.length === 0) throw cause
        return findings
      }
    },
    enabled: isChanged && document !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const isCurrent = isChanged && settled === text
  return {
    findings: isCurrent ? (data ?? NO_FINDINGS) : NO_FINDINGS,
    error: isCurrent ? (error ?? undefined) : undefined,
  }
}
