/** Readings that many parts of the page ask for and one request serves. */
import { server } from './store';

/**
 * `read`, carried out once per key until the line changes, however often it is asked for. One that failed is carried out
 * again when it is asked for again.
 */
export function oncePerLine<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const readings = new Map<string, Promise<T>>();
  server.subscribe(({ connection }, before) => {
    if (connection.kind !== before.connection.kind) readings.clear();
  });
  return (key) => {
    const known = readings.get(key);
    if (known !== undefined) return known;
    const reading = read(key);
    readings.set(key, reading);
    reading.catch(() => {
      if (readings.get(key) === reading) readings.delete(key);
    });
    return reading;
  };
}
