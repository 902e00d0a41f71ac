// The elements of a document: headings, paragraphs, facts, tables, boxes. All text passes through `printable`, and
// every element can break over pages.

import PDFDocument from 'pdfkit'
import { printable, type Typeface } from './typeface.ts'

export interface Column {
  title: string
  /** Share of the page's width, 0 to 1. */
  share: number
  align?: 'left' | 'right'
  isMono?: boolean
}

export type Sheet = ReturnType<typeof createSheet>

const MARGIN = 56
const FOOTER = 40
const INK = '#1a1a1a'
const FAINT = '#5c5c5c'
const LINE = '#c8c8c8'
const BODY = 9.5
const SMALL = 8
const GAP = 3
// So that an id and a digest fit into a line, in a wide typeface too.
const FOOT = 5.8

export function createSheet(face: Typeface, { title, issuedAt }: { title: string; issuedAt: Date }) {
  const doc = new PDFDocument({
    size: 'A4',
    margins: { top: MARGIN, left: MARGIN, right: MARGIN, bottom: MARGIN + FOOTER - 16 },
    bufferPages: true,
    autoFirstPage: true,
    lang: 'en',
    displayTitle: true,
    pdfVersion: '1.7',
    // The same packet gives the same document.
    info: { Title: title, Producer: 'Countersign', Creator: 'Countersign', CreationDate: issuedAt, ModDate: issuedAt },
  })
  const width = doc.page.width - 2 * MARGIN
  const bottom = () => doc.page.height - doc.page.margins.bottom
  const set = (text: string, max?: number) => printable(text, face, max)
  const font = (name: 'regular' | 'bold' | 'mono', size: number, colour = INK) =>
    doc.font(face[name]).fontSize(size).fillColor(colour)

  /** Starts a new page unless this height is left on the current one. */
  function ensureSpace(height: number): void {
    if (doc.y + height > bottom()) doc.addPage()
  }

  function heading(text: string, level: 1 | 2 | 3): void {
    const size = { 1: 17, 2: 13, 3: 10.5 }[level]
    ensureSpace(size * 2 + 60)
    doc.moveDown(level === 1 ? 0.2 : 0.9)
    font('bold', size).text(set(text), MARGIN, doc.y, { width })
    doc.moveDown(0.35)
  }

  function paragraph(
    text: string,
    { size = BODY, colour = INK, isBold = false }: { size?: number; colour?: string; isBold?: boolean } = {},
  ): void {
    ensureSpace(size * 2)
    font(isBold ? 'bold' : 'regular', size, colour).text(set(text, 4_000), MARGIN, doc.y, { width, lineGap: 1.5 })
    doc.moveDown(0.4)
  }

  /** Names and values, in two columns. */
  function facts(
    rows: readonly (readonly [name: string, value: string])[],
    { x = MARGIN, w = width, names = 0.3 } = {},
  ) {
    for (const [name, value] of rows) {
      const [left, right] = [set(name), set(value)]
      const nameWidth = w * names
      font('regular', BODY)
      const height = doc.heightOfString(right, { width: w - nameWidth, lineGap: 1 })
      ensureSpace(height + GAP)
      const { y } = doc
      font('regular', BODY, FAINT).text(left, x, y, { width: nameWidth - 8 })
      const after = doc.y
      font('regular', BODY).text(right, x + nameWidth, y, { width: w - nameWidth, lineGap: 1 })
      doc.y = Math.max(doc.y, after) + GAP
    }
    doc.x = MARGIN
  }

  function table(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
    const inner = 4
    const widths = columns.map(({ share }) => share * width)
    const cells = (values: readonly string[], place: (index: number, text: string, w: number) => void) => {
      for (const [index] of columns.entries()) place(index, values[index] ?? '', (widths[index] ?? 0) - 2 * inner)
    }
    const drawRow = (values: readonly string[], isHead: boolean) => {
      const { y } = doc
      let x = MARGIN
      let end = y
      cells(values, (index, text, w) => {
        const column = columns[index]
        font(isHead ? 'bold' : column?.isMono ? 'mono' : 'regular', column?.isMono && !isHead ? 7 : SMALL)
        doc.text(text, x + inner, y + 3, { width: w, align: column?.align ?? 'left', lineGap: 1 })
        end = Math.max(end, doc.y)
        x += widths[index] ?? 0
      })
      doc.y = end + 3
      doc
        .moveTo(MARGIN, doc.y)
        .lineTo(MARGIN + width, doc.y)
        .lineWidth(0.5)
        .strokeColor(LINE)
        .stroke()
    }
    const heightOf = (values: readonly string[]) => {
      let most = 0
      cells(values, (index, text, w) => {
        font(columns[index]?.isMono ? 'mono' : 'regular', columns[index]?.isMono ? 7 : SMALL)
        most = Math.max(most, doc.heightOfString(text, { width: w, lineGap: 1 }))
      })
      return most + 8
    }
    const head = columns.map(({ title }) => title)
    // A row never fills a page, whatever the glyphs.
    const texts = rows.map((row) => row.map((text, index) => set(text, (columns[index]?.share ?? 0) * 2_200)))
    // The head stays with its first row.
    ensureSpace(heightOf(head) + heightOf(texts[0] ?? []))
    drawRow(head, true)
    for (const values of texts) {
      if (doc.y + heightOf(values) > bottom()) {
        doc.addPage()
        drawRow(head, true)
      }
      drawRow(values, false)
    }
    doc.x = MARGIN
    doc.moveDown(0.6)
  }

  /** A frame around the most important lines. */
  function box(title: string, lines: readonly string[]): void {
    const inner = 12
    const texts = lines.map((line) => set(line, 2_000))
    font('regular', 10.5)
    const options = { width: width - 2 * inner, lineGap: 2 }
    const height = texts.reduce((sum, text) => sum + doc.heightOfString(text, options) + 5, 2 * inner + 18)
    ensureSpace(height + 10)
    const { y } = doc
    doc.rect(MARGIN, y, width, height).lineWidth(1).strokeColor(INK).stroke()
    font('bold', 12).text(set(title), MARGIN + inner, y + inner, options)
    doc.y += 5
    for (const text of texts) {
      font('regular', 10.5).text(text, MARGIN + inner, doc.y, options)
      doc.y += 5
    }
    doc.x = MARGIN
    doc.y = y + height + 12
  }

  /** A picture on the left, or a sentence in its place; facts next to it. */
  function pictured(
    picture: { jpeg: Buffer; width: number; height: number } | string,
    rows: readonly (readonly [string, string])[],
  ): void {
    const side = 170
    ensureSpace(side + 10)
    const { y } = doc
    const page = doc.bufferedPageRange().count
    if (typeof picture === 'string') {
      doc
        .rect(MARGIN, y, side, side * 0.75)
        .lineWidth(0.5)
        .strokeColor(LINE)
        .stroke()
      font('regular', SMALL, FAINT).text(picture, MARGIN + 10, y + side * 0.28, { width: side - 20, align: 'center' })
    } else {
      doc.image(picture.jpeg, MARGIN, y, { fit: [side, side] })
    }
    doc.y = y
    facts(rows, { x: MARGIN + side + 16, w: width - side - 16, names: 0.34 })
    const shown = typeof picture === 'string' ? side * 0.75 : side * Math.min(1, picture.height / picture.width)
    if (doc.bufferedPageRange().count === page) doc.y = Math.max(doc.y, y + shown + 6)
    doc.moveDown(0.4)
  }

  /** Numbers the pages, and ends the document. */
  function finish(footer: string): Promise<Buffer> {
    const { start, count } = doc.bufferedPageRange()
    for (let index = start; index < start + count; index += 1) {
      doc.switchToPage(index)
      const { margins } = doc.page
      // Text below the margin would start a new page.
      doc.page.margins = { ...margins, bottom: 0 }
      const y = doc.page.height - FOOTER
      doc
        .moveTo(MARGIN, y - 5)
        .lineTo(MARGIN + width, y - 5)
        .lineWidth(0.5)
        .strokeColor(LINE)
        .stroke()
      font('regular', FOOT, FAINT).text(set(footer), MARGIN, y, { width: width - 60, lineBreak: false })
      font('regular', FOOT, FAINT).text(`Page ${index - start + 1} of ${count}`, MARGIN, y, {
        width,
        align: 'right',
        lineBreak: false,
      })
      doc.page.margins = margins
    }
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      doc.on('data', (chunk: Buffer) => chunks.push(chunk))
      doc.on('end', () => resolve(Buffer.concat(chunks)))
      doc.on('error', reject)
      doc.end()
    })
  }

  return {
    heading,
    paragraph,
    facts,
    table,
    box,
    pictured,
    finish,
    newPage: () => void doc.addPage(),
    gap: (lines: number) => void doc.moveDown(lines),
    attach: (name: string, bytes: Buffer, description: string) =>
      void doc.file(bytes, {
        name,
        type: 'application/json',
        description,
        creationDate: issuedAt,
        modifiedDate: issuedAt,
      }),
  }
}
