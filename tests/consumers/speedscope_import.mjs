// Runs speedscope's own importer on FILE, without a browser: the application runs with nothing to draw on.
// Prints the functions of each profile with their own and total time.
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'

const folder = new URL('node_modules/speedscope/dist/release/', import.meta.url).pathname

// Every property, call and construction returns the object itself.
const nothing = new Proxy(function () {}, {
  get: (target, key) => (key === Symbol.toPrimitive ? () => '' : key === 'then' ? undefined : key === Symbol.iterator ? function* () {} : nothing),
  apply: () => nothing,
  construct: () => nothing,
  set: () => true,
})

function importer() {
  const bundle = fs.readdirSync(folder).find(name => /^speedscope-.*\.js$/.test(name))
  const text = fs.readFileSync(path.join(folder, bundle), 'utf8')
  const wrapped = /async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfilesFromArrayBuffer\(\w+,\w+\)\}/
  if (!wrapped.test(text)) throw new Error(`${bundle} has no importProfilesFromArrayBuffer where it was`)
  const stopped = {}
  function beforeDrawing() {
    throw stopped // it prints its version when everything but drawing is done
  }
  const context = vm.createContext({
    document: nothing, navigator: nothing, localStorage: nothing, HTMLElement: nothing, HTMLCanvasElement: nothing, Image: nothing,
    requestAnimationFrame: () => 0, matchMedia: () => nothing, addEventListener: () => {}, setTimeout, clearTimeout,
    location: { protocol: 'http:', hash: '', href: 'http://localhost/' },
    console: { log: beforeDrawing, warn: (...words) => console.error('warning:', ...words), error: (...words) => console.error(...words) },
    TextDecoder, TextEncoder, Uint8Array, ArrayBuffer, DataView, performance, URL, Blob, DecompressionStream, fetch: () => nothing,
  })
  context.window = context.self = context
  try {
    vm.runInContext(text.replace(wrapped, (all, name) => `${all};globalThis.importProfiles=${name};`), context)
  } catch (error) {
    if (error !== stopped) throw error
  }
  context.console.log = () => {}
  return context.importProfiles
}

const file = process.argv[2]
const data = fs.readFileSync(file)
const group = await importer()(path.basename(file), data.buffer.slice(data.byteOffset, data.byteOffset + data.length))
if (!group) throw new Error(`${file} is in no format that speedscope knows`)
const profiles = group.profiles.map(profile => {
  const frames = []
  profile.forEachFrame(frame => frames.push([frame.name, frame.getSelfWeight(), frame.getTotalWeight()]))
  return { name: profile.getName(), unit: profile.getWeightUnit(), frames }
})
console.log(JSON.stringify(profiles))
