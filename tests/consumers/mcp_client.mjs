// Talks with `dwell mcp`, started by the words of the command line, through the protocol's own client, and calls each
// tool that reads FILE: node mcp_client.mjs FILE DWELL ARGUMENT... Prints a line for each answer.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const [file, command, ...args] = process.argv.slice(2)
const client = new Client({ name: 'dwell-test', version: '1' })
await client.connect(new StdioClientTransport({ command, args, env: process.env }))
console.log(`server: ${client.getServerVersion().name}`)

// The arguments of tools that need some.
const needs = {
  record: { program: 'fib', arguments: ['10'], output: 'by-client.data' },
  callers: { function: 'fib', session: file },
  annotate: { function: 'fib', session: file },
  why: { function: 'fib', session: file },
  whatif: { rank: true, session: file },
  diff: { before: [file], after: [file] },
}

const { tools } = await client.listTools()
for (const { name } of tools) {
  const answer = await client.callTool({ name, arguments: needs[name] ?? { session: file } })
  const text = answer.content.map(part => part.text).join('')
  console.log(`${name}: ${answer.isError ? text : text.length > 4000 ? 'too long' : 'ok'}`)
}

const wrong = await client.callTool({ name: 'report', arguments: { session: 'nothing.data' } })
console.log(`no such file: ${wrong.isError}, ${wrong.content[0].text.split(':')[0]}`)
try {
  await client.callTool({ name: 'nothing', arguments: {} })
} catch (error) {
  console.log(`no such tool: ${error.code}`)
}
await client.close()
