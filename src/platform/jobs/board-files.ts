// Files of the board's page, read once from a package and served by exact name only.

import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join, relative } from 'node:path'

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

export interface BoardFiles {
  /** The page with these values filled in. */
  page(values: Record<string, string>): string
  find(name: string): Promise<{ type: string; bytes: Buffer } | undefined>
}

export async function openBoardFiles(): Promise<BoardFiles> {
  const home = join(dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json')), 'dist')
  const template = withoutOutsideHosts(await readFile(join(home, 'index.ejs'), 'utf8'))
  const folder = join(home, 'static')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const files = new Map(paths.map((path) => [relative(folder, path), path]))
  return {
    // `<%= x %>` is escaped; `<%- x %>` is not: the board has already escaped that JSON for its position.
    page: (values) =>
      template.replaceAll(/<%([=-])\s*(\w+)\s*%>/g, (_, mode: string, name: string) => {
        const value = values[name] ?? ''
        return mode === '-' ? value : escapeHtml(value)
      }),
    async find(name) {
      const path = files.get(name)
      const type = TYPES[extname(name)]
      return path === undefined || type === undefined ? undefined : { type, bytes: await readFile(path) }
    },
  }
}

// Removes fonts on other hosts: an internal port often can't reach them, and they would learn who opens the board.
function withoutOutsideHosts(template: string): string {
  return template.replaceAll(/<link[^>]+href="https?:[^>]*>/g, '')
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}
