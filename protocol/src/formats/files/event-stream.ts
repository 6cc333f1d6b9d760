/** A server-sent event. Without `data` it only names the place at which a reader continues. */
export type StreamEvent = { id: string | undefined; data: string | undefined }

/** Characters of one event. A longer one is not of this service. */
const charactersMax = 1024 * 1024

/**
 * Reads server-sent events (HTML Living Standard §9.2) from pieces of text, as this service writes them: lines end with
 * a line feed. Comments and other fields are skipped; an event that is cut off is not returned. Throws a `RangeError`
 * for an event of more than 1,048,576 characters.
 */
export async function* readEventStream(pieces: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let begun = ''
  for await (const piece of pieces) {
    const blocks = `${begun}${piece}`.split('\n\n')
    begun = blocks.pop() ?? ''
    if (begun.length > charactersMax) throw new RangeError('an event of the stream is too long')
    for (const block of blocks) yield parseBlock(block)
  }
}

function parseBlock(block: string): StreamEvent {
  const event: StreamEvent = { id: undefined, data: undefined }
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) event.id = line.slice(4)
    if (line.startsWith('data: ')) event.data = `${event.data === undefined ? '' : `${event.data}\n`}${line.slice(6)}`
  }
  return event
}
