// A video with its chunks: which of them the findings concern, and where they are in the recording.

import type { SubmittedAttestation } from '@countersign/client'
import { Anchor, Code, Group, Table, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { withApiNames } from '../../parts/finding.tsx'
import { formatBytes, formatNumber, formatSeconds } from '../../parts/measures.ts'
import { type Capture, type Chunk, numberIn, recordIn } from './capture.ts'

const SHOWN_CHUNKS = 60
// Before the first chunk with a finding, so that it is seen beside its neighbours.
const SHOWN_BEFORE = 5
const MAX_BARS = 400

export function Video({ attestation, capture }: { attestation: SubmittedAttestation; capture: Capture }) {
  const player = useRef<HTMLVideoElement>(null)
  const [isBroken, setIsBroken] = useState(false)
  const { mediaId } = attestation
  const findings = findingsOf(attestation)
  const bad = [...findings.keys()].sort((a, b) => a - b)
  const from = Math.max(0, (bad[0] ?? 0) - SHOWN_BEFORE)
  const shown = capture.chunks.filter(({ index }) => index >= from).slice(0, SHOWN_CHUNKS)
  const open = ({ firstUs }: Chunk) => {
    if (player.current !== null && firstUs !== undefined) player.current.currentTime = firstUs / 1e6
  }
  return (
    <div>
      {/* biome-ignore lint/a11y/useMediaCaption: evidence has no captions */}
      <video
        ref={player}
        controls
        preload="metadata"
        src={`/v1/media/${mediaId}`}
        onError={() => setIsBroken(true)}
        style={{ width: '100%', height: 260, background: '#000' }}
      />
      <Group gap="xs" mt={4} mb="xs">
        <Text size="xs" c="dimmed">
          {isBroken ? 'This browser can not play the file. ' : ''}
          {capture.durationUs === undefined ? '' : `${formatSeconds(capture.durationUs / 1e6)}, `}
          {formatNumber(capture.chunks.length)} chunks
        </Text>
        <Anchor size="xs" href={`/v1/media/${mediaId}`} download className="no-print">
          Download
        </Anchor>
      </Group>
      <Bars chunks={capture.chunks} findings={findings} />
      {shown.length > 0 && (
        <Table.ScrollContainer minWidth={300} mah={260} type="native">
          <Table fz="xs" verticalSpacing={2} aria-label="Chunks of the video">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Chunk</Table.Th>
                <Table.Th>From</Table.Th>
                <Table.Th ta="right">Frames</Table.Th>
                <Table.Th ta="right">Size</Table.Th>
                <Table.Th>Finding</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((chunk) => (
                <Table.Tr key={chunk.index}>
                  <Table.Td>
                    <Anchor component="button" size="xs" onClick={() => open(chunk)}>
                      {chunk.index}
                    </Anchor>
                  </Table.Td>
                  <Table.Td>{chunk.firstUs === undefined ? '–' : formatSeconds(chunk.firstUs / 1e6)}</Table.Td>
                  <Table.Td ta="right">{chunk.frames === undefined ? '–' : formatNumber(chunk.frames)}</Table.Td>
                  <Table.Td ta="right">{chunk.bytes === undefined ? '–' : formatBytes(chunk.bytes)}</Table.Td>
                  <Table.Td>
                    {(findings.get(chunk.index) ?? []).map((word) => (
                      <Code key={word} mr={4}>
                        {word}
                      </Code>
                    ))}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {capture.chunks.length > from + shown.length && (
        <Text size="xs" c="dimmed">
          {formatNumber(capture.chunks.length - from - shown.length)} more chunks follow.
        </Text>
      )}
    </div>
  )
}

/** What the factors say of single chunks: they name the first of each kind. */
function findingsOf({ factors = [] }: SubmittedAttestation): Map<number, string[]> {
  const found = new Map<number, string[]>()
  const add = (index: number | undefined, word: string) => {
    if (index === undefined) return
    const words = found.get(index) ?? []
    if (!words.includes(word)) found.set(index, [...words, word])
  }
  for (const { code, evidence: renamed } of factors) {
    const evidence = withApiNames(renamed)
    const problems = recordIn(evidence, 'problems')
    for (const kind of Object.keys(problems)) add(numberIn(problems[kind], 'first_index'), `${code}: ${kind}`)
    if (Object.keys(problems).length === 0) add(numberIn(evidence, 'first_bad_index'), code)
  }
  return found
}

/** The whole recording in one line. Several chunks share a bar where there are many. */
function Bars({ chunks, findings }: { chunks: readonly Chunk[]; findings: ReadonlyMap<number, string[]> }) {
  if (chunks.length === 0) return null
  const each = Math.ceil(chunks.length / MAX_BARS)
  const bars = Array.from({ length: Math.ceil(chunks.length / each) }, (_, bar) => {
    const part = chunks.slice(bar * each, (bar + 1) * each)
    return { first: part[0]?.index ?? bar, isBad: part.some(({ index }) => findings.has(index)) }
  })
  const bad = [...findings.keys()].sort((a, b) => a - b)
  const label =
    bad.length === 0
      ? 'No finding names a chunk'
      : `Findings name ${bad.length === 1 ? 'chunk' : 'chunks'} ${bad.join(', ')}`
  return (
    <figure style={{ margin: '0 0 0.5rem' }}>
      <svg
        viewBox={`0 0 ${bars.length} 10`}
        preserveAspectRatio="none"
        width="100%"
        height={18}
        role="img"
        aria-label={label}
      >
        {bars.map(({ first, isBad }, position) => (
          <rect
            key={first}
            x={position + 0.05}
            y={isBad ? 0 : 4}
            width={0.9}
            height={isBad ? 10 : 6}
            fill={isBad ? 'var(--mantine-color-red-filled)' : 'var(--mantine-color-dimmed)'}
          />
        ))}
      </svg>
      <Text component="figcaption" size="xs">
        {label}.
      </Text>
    </figure>
  )
}
