import { type Connection, type Engine, type Replica, ReplicaUnused } from "../engine.ts";
import { isOnTimeline, markLine } from "../replica-line.ts";
import type { Read, ReplicaReads, Store } from "../store.ts";
import { UnknownKeyError } from "../vault.ts";
import { oncePerTurn } from "./once-per-turn.ts";

interface Primary {
  read: Store["read"];
  write: Store["write"];
  /** A read on a connection, with the keys that this process has. */
  over(connection: Connection): Read;
}

/** Reads on the replica of an engine that has one; all others go to the primary. */
export interface ListReads extends Pick<Store, "list" | "replica"> {
  /** After a write: what is read next has it. */
  forget(): void;
}

/** The reads of lists over an engine. */
export function listReads({ replica }: Pick<Engine, "replica">, primary: Primary): ListReads {
  if (replica === null) return { list: primary.read, replica: null, forget: () => undefined };
  return replicaReads(replica, primary);
}

function replicaReads(
  replica: Replica & Pick<NonNullable<Engine["replica"]>, "position">,
  primary: Primary,
): ListReads {
  const position = oncePerTurn(() => replica.position());
  const counted = { replica: 0, primary: 0 };

  async function onReplica<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    const present = await position.ask();
    if (!isOnTimeline(present.line, present.timeline)) throw new ReplicaUnused("it is not known to follow the primary");
    return replica.snapshot(present, run);
  }

  const reads: ReplicaReads = {
    async look() {
      const { line, timeline } = await replica.position();
      if (!isOnTimeline(line, timeline)) await primary.write(markLine, timeline);
      return replica.look(await replica.position());
    },
    counted: () => ({ ...counted }),
  };
  return {
    replica: reads,
    forget: position.forget,
    async list(query, input) {
      try {
        const result = await onReplica((connection) => query(primary.over(connection), input));
        counted.replica++;
        return result;
      } catch (error) {
        // A sealed value under a key that was rotated since is read again where the keys are.
        if (!(error instanceof ReplicaUnused || error instanceof UnknownKeyError)) throw error;
      }
      counted.primary++;
      return primary.read(query, input);
    },
  };
}
