/** Queries with which an answer ends that otherwise lasts as long as its reader, by the URL of the endpoint. */
const endingQueries: Partial<Record<string, string>> = { '/api/admin/audit/stream': '?follow=false' }

/** Returns the query with which the answer of an endpoint ends. It is empty for nearly all of them. */
export function endingQueryOf(url: string): string {
  return endingQueries[url] ?? ''
}
