// Uploads a folder of photos, or a file of lines, as one batch. The tab may be closed: the same folder, chosen again, goes on.

import {
  Alert,
  Anchor,
  Button,
  Card,
  FileButton,
  Group,
  Progress,
  Radio,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { FolderUp } from 'lucide-react'
import { type ChangeEvent, useEffect, useRef, useState } from 'react'
import { addressOf } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { formatBytes, formatNumber, formatPercent, formatSeconds } from '../../parts/measures.ts'
import { StillWaiting } from '../../parts/send.tsx'
import { Time } from '../../parts/values.tsx'
import {
  keyOfBatch,
  linesOf,
  MAX_FILES,
  pathOf,
  type Progress as Run,
  readLines,
  typeOf,
  uploadFiles,
} from './upload-run.ts'
import { type ClaimChoice, openUploadStore, type UploadPlan, type UploadStore } from './upload-store.ts'

const PERMISSION = 'claims.submit'
const START: ClaimChoice = { by: 'file', reference: '', line: '' }
const MAX_BATCH_BYTES = 256 * 2 ** 20

export function Page() {
  const { may } = useSession()
  return may(PERMISSION) ? <Upload /> : <Forbidden permission={PERMISSION} />
}

function Upload() {
  const { session, environment } = useSession()
  const client = useClient()
  const cache = useQueryClient()
  const navigate = useNavigate()
  const scope = `${session.user.userId} ${environment}`
  const store = useQuery({ queryKey: ['upload-store'], queryFn: openUploadStore, staleTime: Number.POSITIVE_INFINITY })
  const former = useQuery({
    queryKey: ['upload-plan', scope],
    queryFn: async () => readFormer(store.data as UploadStore, scope),
    enabled: store.data !== undefined,
    staleTime: 0,
  })
  const [files, setFiles] = useState<readonly File[]>([])
  const [choice, setChoice] = useState(START)
  const [progress, setProgress] = useState<Run>()
  const stop = useRef<AbortController>(undefined)
  const plan = former.data?.plan

  const finish = async (batchId: string) => {
    await cache.invalidateQueries({ queryKey: ['list', 'batches', environment] })
    void navigate(addressOf(environment, `batches/${batchId}`))
  }
  const run = useMutation({
    mutationFn: async () => {
      if (store.data === undefined) throw new Error('the browser keeps nothing for this page')
      stop.current = new AbortController()
      const next: UploadPlan = {
        scope,
        name: folderOf(files),
        total: files.length,
        startedAt: plan?.startedAt ?? Date.now(),
        choice: plan?.choice ?? choice,
      }
      await store.data.savePlan(next)
      await former.refetch()
      const { signal } = stop.current
      const records = await uploadFiles({
        client,
        store: store.data,
        plan: next,
        files,
        signal,
        onProgress: setProgress,
      })
      const { lines, sources } = linesOf(records, next.choice)
      if (lines.length === 0) throw new Error('Every file was refused: see the list below.')
      const { batchId } = await client.claims.batches.create(lines, {
        idempotencyKey: keyOfBatch(lines, next.startedAt),
        signal,
      })
      const refused = records.flatMap(({ path, refusal }) =>
        refusal === undefined ? [] : [{ source: path, ...refusal }],
      )
      await store.data.saveBatch({ batchId, at: Date.now(), sources, refused })
      await store.data.removePlan(scope)
      return batchId
    },
    onSuccess: finish,
    onError: () => void former.refetch(),
  })
  const submitLines = useMutation({
    mutationFn: async (file: File) => {
      if (file.size > MAX_BATCH_BYTES) throw new Error(`The file has more than ${formatBytes(MAX_BATCH_BYTES)}.`)
      const { lines, sources, refused } = readLines(await file.text())
      if (lines.length === 0) throw new Error('The file has no line that is JSON.')
      const { batchId } = await client.claims.batches.create(lines, {
        idempotencyKey: keyOfBatch(lines, file.lastModified),
      })
      const wrong = refused.map((line) => ({ source: `line ${line}`, code: 'invalid_json', detail: 'It is no JSON.' }))
      await store.data?.saveBatch({ batchId, at: Date.now(), sources, refused: wrong })
      return batchId
    },
    onSuccess: finish,
  })
  const discard = useMutation({
    mutationFn: async () => {
      await store.data?.removePlan(scope)
      await store.data?.removeFiles(scope)
      await former.refetch()
    },
  })
  useWarning(run.isPending)
  const strangers = files.filter((file) => typeOf(file) === undefined).length

  return (
    <Stack maw={760}>
      <div>
        <Anchor component={Link} {...addressOf(environment, 'batches')} size="sm">
          All batches
        </Anchor>
        <Title order={1} size="h3">
          Upload captures
        </Title>
      </div>
      {store.isError && (
        <Alert color="yellow" title="This browser keeps nothing">
          An upload that breaks off can not go on here. Use another window, or <code>npm run submit</code>.
        </Alert>
      )}
      {former.data !== undefined && former.data !== null && !run.isPending && (
        <Alert title={`The upload of ${former.data.plan.name} is not finished`} role="status">
          <Text size="sm" mb="xs">
            Begun <Time at={new Date(former.data.plan.startedAt).toISOString()} />: of{' '}
            {formatNumber(former.data.plan.total)} files {formatNumber(former.data.uploaded)} are uploaded. Choose the
            same folder again to go on: they are not sent twice.
          </Text>
          <Button size="xs" variant="light" loading={discard.isPending} onClick={() => discard.mutate()}>
            Discard it
          </Button>
        </Alert>
      )}
      <Card withBorder>
        <Stack>
          <Chooser isDisabled={run.isPending} onChoose={setFiles} />
          {files.length > 0 && (
            <Text size="sm" role="status">
              {formatNumber(files.length)} files, {formatBytes(files.reduce((sum, { size }) => sum + size, 0))}
              {strangers === 0
                ? ''
                : `. ${formatNumber(strangers)} of them are neither photos nor videos by their names.`}
            </Text>
          )}
          {files.length > MAX_FILES && (
            <Alert color="red">A batch takes {formatNumber(MAX_FILES)} files: choose a smaller folder.</Alert>
          )}
          {plan === undefined && <Claims choice={choice} onChange={setChoice} isDisabled={run.isPending} />}
          {progress !== undefined && (run.isPending || run.isError) && <Running progress={progress} />}
          {run.isError && <Failed error={run.error} onRetry={() => run.mutate()} />}
          <StillWaiting isPending={run.isPending && progress !== undefined && progress.done === progress.total} />
          <Group>
            <Button
              leftSection={<FolderUp size={16} />}
              loading={run.isPending}
              disabled={
                files.length === 0 ||
                files.length > MAX_FILES ||
                store.data === undefined ||
                (plan === undefined && choice.by === 'one' && choice.reference.trim() === '')
              }
              onClick={() => run.mutate()}
            >
              {plan === undefined ? 'Upload' : 'Go on'}
            </Button>
            {run.isPending && (
              <Button variant="default" onClick={() => stop.current?.abort(new Error('You stopped the upload.'))}>
                Stop
              </Button>
            )}
          </Group>
        </Stack>
      </Card>
      <Card withBorder>
        <Title order={2} size="h5">
          A file of lines
        </Title>
        <Text size="sm" mb="xs">
          NDJSON as <a href="/docs/attest/events-and-batches">the guide</a> describes it: one capture in each line,
          whose media are uploaded already.
        </Text>
        {submitLines.isError && <Failed error={submitLines.error} />}
        <FileButton
          accept=".ndjson,.jsonl,application/x-ndjson"
          inputProps={{ 'aria-label': 'A file of lines' }}
          onChange={(file) => file !== null && submitLines.mutate(file)}
        >
          {(props) => (
            <Button {...props} variant="default" loading={submitLines.isPending}>
              Submit a file
            </Button>
          )}
        </FileButton>
      </Card>
    </Stack>
  )
}

async function readFormer(store: UploadStore, scope: string) {
  const plan = await store.findPlan(scope)
  // A query has no undefined.
  if (plan === undefined) return null
  const files = [...(await store.findFiles(scope)).values()].filter(({ at }) => at >= plan.startedAt)
  return { plan, uploaded: files.filter(({ media }) => media !== undefined).length }
}

function folderOf(files: readonly File[]): string {
  const [first] = files
  return first === undefined ? '' : (pathOf(first).split('/')[0] ?? first.name)
}

/** The browser asks before it closes the tab. */
function useWarning(isRunning: boolean): void {
  useEffect(() => {
    if (!isRunning) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isRunning])
}

function Chooser({ isDisabled, onChoose }: { isDisabled: boolean; onChoose(files: readonly File[]): void }) {
  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) =>
    onChoose([...(currentTarget.files ?? [])].filter(({ name }) => !name.startsWith('.')))
  return (
    <Group gap="lg" align="flex-start">
      <label>
        <Text size="sm" fw={500}>
          A folder of photos
        </Text>
        {/* React has no name for the attribute that makes the chooser take folders. */}
        <input type="file" multiple disabled={isDisabled} onChange={choose} {...{ webkitdirectory: '' }} />
      </label>
      <label>
        <Text size="sm" fw={500}>
          Or single files
        </Text>
        <input type="file" multiple disabled={isDisabled} onChange={choose} accept="image/*,video/*,.heic" />
      </label>
    </Group>
  )
}

interface ClaimsProps {
  choice: ClaimChoice
  onChange(choice: ClaimChoice): void
  isDisabled: boolean
}

function Claims({ choice, onChange, isDisabled }: ClaimsProps) {
  return (
    <Stack gap="xs">
      <Radio.Group
        label="Which claim a photo belongs to"
        value={choice.by}
        onChange={(by) => onChange({ ...choice, by: by as ClaimChoice['by'] })}
      >
        <Group mt={4} gap="md">
          <Radio value="file" label="Its name is the claim number" disabled={isDisabled} />
          <Radio value="folder" label="Its folder is the claim number" disabled={isDisabled} />
          <Radio value="one" label="All belong to one claim" disabled={isDisabled} />
          <Radio value="none" label="Each is a claim without a number" disabled={isDisabled} />
        </Group>
      </Radio.Group>
      <Group>
        {choice.by === 'one' && (
          <TextInput
            label="Claim number"
            maxLength={255}
            value={choice.reference}
            onChange={(event) => onChange({ ...choice, reference: event.currentTarget.value })}
          />
        )}
        <TextInput
          label="Line of business"
          description="Optional, such as auto"
          maxLength={64}
          value={choice.line}
          onChange={(event) => onChange({ ...choice, line: event.currentTarget.value })}
        />
      </Group>
    </Stack>
  )
}

// Long enough to even out single files, short enough to follow a line that became slow.
const RATE_WINDOW_MS = 10_000

function Running({ progress }: { progress: Run }) {
  const { done, total, refused, sentBytes, totalBytes } = progress
  const rate = useRate(sentBytes)
  const share = totalBytes === 0 ? 0 : Math.min(sentBytes / totalBytes, 1)
  return (
    <Stack gap={4}>
      <Progress value={share * 100} aria-label="Upload" />
      <Text size="sm" role="status">
        {formatNumber(done)} of {formatNumber(total)} files, {formatPercent(share)}
        {refused === 0 ? '' : `, ${formatNumber(refused)} refused`}
        {rate === undefined || done === total
          ? ''
          : `, ${formatBytes(rate)} a second, about ${formatSeconds((totalBytes - sentBytes) / rate)} left`}
      </Text>
    </Stack>
  )
}

/** Bytes a second over the last ten seconds; undefined at the beginning. */
function useRate(sentBytes: number): number | undefined {
  const samples = useRef<{ at: number; bytes: number }[]>([])
  const now = Date.now()
  const last = samples.current.at(-1)
  if (last === undefined || last.bytes !== sentBytes) {
    samples.current = [...samples.current, { at: now, bytes: sentBytes }].filter(({ at }) => now - at < RATE_WINDOW_MS)
  }
  const [first] = samples.current
  if (first === undefined || now - first.at < 1_000 || sentBytes <= first.bytes) return undefined
  return ((sentBytes - first.bytes) * 1_000) / (now - first.at)
}
