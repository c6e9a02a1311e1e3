//! What blob stores promise, on every backend.

use super::*;

fn everywhere(check: impl Fn(&Blobs)) {
    let dir = tempfile::tempdir().unwrap();
    check(&Blobs::local(&dir.path().join("data/blobs")).unwrap());
    check(&Blobs::in_memory());
    check(&Blobs::url("memory:///some/prefix").unwrap());
    let file = format!("file://{}", dir.path().join("by url").display());
    check(&Blobs::url(&file.replace(' ', "%20")).unwrap());
    let reactor = Remote::in_memory().with_reactor().unwrap();
    check(&Blobs(Arc::new(Backend::Remote(reactor))));
}

#[test]
fn what_is_put_is_got_whole_and_in_parts() {
    everywhere(|blobs| {
        let large: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        for body in [&b""[..], b"x", "größer".as_bytes(), &large] {
            let id = blobs.put(body).unwrap();
            assert_eq!(blobs.put(body).unwrap(), id);
            assert_eq!(blobs.get(&id).unwrap(), body);
            assert_eq!(blobs.size(&id).unwrap(), body.len() as u64);
            for range in [0..0, 0..3, 1..2, 65_535..65_537, 7..u64::MAX, 9_999_999..9_999_999] {
                let part = blobs.get_range(&id, range.clone()).unwrap();
                assert_eq!(part, cut(body, &range), "{range:?} of {}", body.len());
            }
        }
    });
}

#[test]
fn an_absent_blob_is_named() {
    everywhere(|blobs| {
        let id = BlobId::of(b"never stored");
        assert!(!blobs.exists(&id).unwrap());
        for error in [
            blobs.get(&id).unwrap_err(),
            blobs.get_range(&id, 0..1).unwrap_err(),
            blobs.size(&id).unwrap_err(),
        ] {
            assert!(matches!(&error, BlobError::NotFound { id: named } if *named == id));
            assert!(error.to_string().contains(&id.to_string()), "{error}");
        }
    });
}

#[test]
fn reading_creates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::local(&dir.path().join("blobs")).unwrap();
    assert!(!blobs.exists(&BlobId::of(b"x")).unwrap());
    assert!(blobs.get(&BlobId::of(b"x")).is_err());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn the_second_put_does_not_write() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::local(dir.path()).unwrap();
    let id = blobs.put(b"once").unwrap();
    let file = dir.path().join(id.path());
    let first = std::fs::metadata(&file).unwrap();
    for again in [&blobs, &Blobs::local(dir.path()).unwrap()] {
        again.put(b"once").unwrap();
        let now = std::fs::metadata(&file).unwrap();
        assert_eq!(first.modified().unwrap(), now.modified().unwrap());
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            assert_eq!(first.ino(), now.ino(), "the file was replaced");
        }
    }
    let shard = std::fs::read_dir(file.parent().unwrap()).unwrap();
    assert_eq!(shard.count(), 1, "no staging file is left behind");
}

#[test]
fn damage_is_found_named_and_repaired_by_the_next_put_of_another_size() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::local(dir.path()).unwrap();
    let id = blobs.put(b"the truth").unwrap();
    let file = dir.path().join(id.path());
    for wrong in [&b"the trutH"[..], b"the tru", b""] {
        std::fs::write(&file, wrong).unwrap();
        for error in [blobs.get(&id).unwrap_err(), blobs.get_range(&id, 0..1).unwrap_err()] {
            assert!(
                matches!(&error, BlobError::Corrupt { id: named, bytes, .. }
                    if *named == id && *bytes == wrong.len() as u64),
                "{error}"
            );
        }
    }
    blobs.put(b"the truth").unwrap();
    assert_eq!(blobs.get(&id).unwrap(), b"the truth");
}

#[test]
fn ids_have_one_spelling_and_cannot_leave_the_store() {
    let id = BlobId::of(b"");
    let text = id.to_string();
    assert_eq!(text, "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    assert_eq!(text.parse::<BlobId>().unwrap(), id);
    for bad in [
        "",
        "blake3:",
        "blake3:../../../../etc/passwd",
        &text.to_uppercase(),
        &text.replace("af13", "AF13"),
        &text[..70],
        &format!("{text}0"),
        &text[7..],
    ] {
        assert!(bad.parse::<BlobId>().is_err(), "{bad}");
    }
}

#[test]
fn urls_that_nothing_serves_say_so() {
    let check = |url: &str, expected: &str| {
        let error = Blobs::url(url).unwrap_err().to_string();
        assert!(error.contains(expected), "{url}: {error}");
    };
    check("no url", "is no URL");
    check("ftp://host/x", "no blob store for `ftp` URLs");
    check("file://host/x", "absolute path");
    check("s3://bucket/x", "build with the matching `object_store` feature");
}

#[test]
fn a_path_that_is_a_file_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Blobs::local(file.path()).unwrap_err();
    assert!(matches!(error, BlobError::Folder { .. }), "{error}");
}

#[test]
fn calls_work_inside_async_runtimes() {
    let single = tokio::runtime::Builder::new_current_thread().build().unwrap();
    single.block_on(async {
        everywhere(|blobs| {
            let id = blobs.put(b"from within").unwrap();
            assert_eq!(blobs.get(&id).unwrap(), b"from within");
        });
    });
}

#[test]
fn many_at_once_come_back_in_order() {
    everywhere(|blobs| {
        let bodies: Vec<Vec<u8>> = (0..100_u32).map(|n| vec![(n % 7) as u8; n as usize]).collect();
        let borrowed: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
        let ids = blobs.put_all(&borrowed).unwrap();
        for (id, body) in ids.iter().zip(&bodies) {
            assert_eq!(&blobs.get(id).unwrap(), body);
        }
    });
}

#[test]
fn equal_bodies_put_at_the_same_time_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::local(dir.path()).unwrap();
    let same = vec![&b"race"[..]; 32];
    let ids = blobs.put_all(&same).unwrap();
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(blobs.get(&ids[0]).unwrap(), b"race");
    let files: Vec<_> = std::fs::read_dir(dir.path().join(&ids[0].path()[..2])).unwrap().collect();
    assert_eq!(files.len(), 1);
}
